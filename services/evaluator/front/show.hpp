// Evaluations as bodies of answers. Pure.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "services/evaluator/records/evaluation.hpp"
#include "services/kit/findings/finding.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/web/paging.hpp"

namespace stackgate::evaluator {

/// "2026-01-31T09:08:07Z"; null of 0.
void write_time(json::Writer& w, std::string_view name, std::int64_t seconds);

/// NeMo's job: id, name, status, status_details, times, and the members of the request, with masked keys.
/// In a list without the rows of the request.
void write_evaluation(json::Writer& w, const Evaluation& evaluation, bool is_listed = false);
std::string evaluation_json(const Evaluation& evaluation);
/// {"message", "task_status", "progress", "samples", "status"}.
std::string status_json(const Evaluation& evaluation);
std::string list_json(std::span<const Evaluation> rows, const web::Page& page, std::uint64_t total,
                      std::string_view sort, std::string_view filter);
/// {"id", "job", "name", "created_at", "files_url", "complete", "tasks", "groups", …}: of a part while it runs.
std::string results_answer(const Evaluation& evaluation, std::string_view base_url);
std::string events_json(std::span<const Event> events);
/// "2026-01-31T09:08:07Z running\n".
std::string log_line(const Event& event);
/// [{"loc", "msg", "type"}]: as they are stored.
std::string warnings_json(const validate::Findings& warnings);

}  // namespace stackgate::evaluator
