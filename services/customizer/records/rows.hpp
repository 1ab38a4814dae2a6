// Rows as values, and the statements that several files need. Internal to this folder.
#pragma once
#include <string_view>

#include "services/customizer/job/changes.hpp"
#include "services/customizer/records/records.hpp"
#include "services/kit/sql/database.hpp"

namespace stackgate::customizer::rows {

/// Of a Customization; in lists these alone.
inline constexpr std::string_view columns =
    "id, name, request, state, message, stages, trained, progress, warnings, created_at, "
    "CASE WHEN reported_at > changed_at THEN reported_at ELSE changed_at END, started_at, ended_at, cleared";
/// Of a Stored: with what is not shown.
inline constexpr std::string_view all_columns_end = ", revision, token, traceparent";

Customization read_job(const sql::Row& row);
Stored read_stored_row(const sql::Row& row);

/// Of a session's transaction; `condition` is about $1.
sql::Expected<std::optional<Stored>> find(sql::Session& session, std::string_view condition, std::string_view value);
/// One more (1), or one less (-1), of a model and a state.
sql::Expected<void> count(sql::Session& session, const std::string& model, State state, std::int64_t change);
sql::Expected<void> put_event(sql::Session& session, std::string_view id, const Change& change);

}  // namespace stackgate::customizer::rows
