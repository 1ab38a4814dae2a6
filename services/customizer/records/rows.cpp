#include "services/customizer/records/rows.hpp"

#include <fmt/format.h>

#include "services/customizer/job/stages_json.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::customizer::rows {

Customization read_job(const sql::Row& row) {
  return {.id = row.text(0),
          .name = row.text(1),
          .request = row.text(2),
          .state = state_named(row.text(3)).value_or(State::failed),
          .message = row.text(4),
          .stages = read_stages(row.text(5)),
          .trained = row.integer(6) != 0,
          .cleared = row.integer(13) != 0,
          .progress = row.text(7),
          .warnings = row.text(8),
          .created_at = row.integer(9),
          .changed_at = row.integer(10),
          .started_at = row.integer(11),
          .ended_at = row.integer(12)};
}

Stored read_stored_row(const sql::Row& row) {
  return {.job = read_job(row), .revision = row.integer(14), .token = row.text(15), .traceparent = row.text(16)};
}

sql::Expected<std::optional<Stored>> find(sql::Session& session, std::string_view condition, std::string_view value) {
  const auto found =
      TRY(session.run(fmt::format("SELECT {}{} FROM customization WHERE {} = $1", columns, all_columns_end, condition),
                      {std::string(value)}));
  if (found.rows.empty()) return std::nullopt;
  return read_stored_row(found.rows.front());
}

sql::Expected<void> count(sql::Session& session, const std::string& model, State state, std::int64_t change) {
  TRY(
      session.run("INSERT INTO customization_count (model, state, amount) VALUES ($1, $2, $3) "
                  "ON CONFLICT (model, state) DO UPDATE SET amount = customization_count.amount + excluded.amount",
                  {model, std::string(to_string(state)), change}));
  return {};
}

sql::Expected<void> put_event(sql::Session& session, std::string_view id, const Change& change) {
  TRY(session.run(
      fmt::format("INSERT INTO customization_event (customization, at, message, detail) VALUES ($1, {}, $2, $3)",
                  sql::now_seconds(session.engine())),
      {std::string(id), change.message, change.detail}));
  return {};
}

}  // namespace stackgate::customizer::rows
