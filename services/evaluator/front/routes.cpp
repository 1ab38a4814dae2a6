#include "services/evaluator/front/front.hpp"
#include "services/evaluator/front/route_table.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::evaluator {
namespace routes_detail {

constexpr std::uint64_t largest_body = 4U << 20U;

web::Answer get_openapi(const Front&, web::Call&) { return web::json_answer(openapi_document()); }

constexpr std::string_view all_of_them = "/v1/evaluations", all_jobs = "/v1/evaluation/jobs";
constexpr RouteRow rows[] = {
    {"POST", all_of_them, "Create an evaluation", create_evaluation, "Evaluation", "201", "application/json", "dry_run",
     true},
    {"GET", all_of_them, "List evaluations", list_evaluations, "", "200", "application/json",
     "page,page_size,sort,filter[state],filter[status],filter[framework]"},
    {"GET", "/v1/evaluations/{name}", "One evaluation", get_evaluation},
    {"DELETE", "/v1/evaluations/{name}", "Delete an evaluation that has ended, with its results", delete_evaluation, "",
     "204"},
    {"POST", "/v1/evaluations/{name}/cancel", "Cancel an evaluation", cancel_evaluation},
    {"GET", "/v1/evaluations/{name}/status", "How far it is", get_status},
    {"GET", "/v1/evaluations/{name}/results", "Its results, of a part while it runs; or all of it as a zip",
     get_results, "", "200", "application/json", "format", true},
    {"GET", "/v1/evaluations/{name}/samples", "Records of its samples", list_samples, "", "200", "application/json",
     "task,after,limit"},
    {"GET", "/v1/evaluations/{name}/logs", "Its log as text", get_logs, "", "200", "text/plain", "follow", true},
    {"GET", "/v1/evaluations/{name}/events", "What happened to it, as a list or as server-sent events", get_events, "",
     "200", "application/json", "after", true, "Last-Event-ID"},
    {"POST", "/v1/comparisons", "Compare evaluations that are completed", create_comparison, "Comparison", "200",
     "application/json", "", true},
    {"POST", all_jobs, "Create an evaluation from a NeMo job, or as above", create_job, "Job", "201",
     "application/json", "dry_run", true},
    {"GET", all_jobs, "List evaluations", list_evaluations, "", "200", "application/json",
     "page,page_size,sort,filter[state],filter[status],filter[framework]"},
    {"GET", "/v1/evaluation/jobs/{name}", "One evaluation, by its id or name", get_evaluation},
    {"DELETE", "/v1/evaluation/jobs/{name}", "Delete an evaluation that has ended, with its results", delete_evaluation,
     "", "204"},
    {"POST", "/v1/evaluation/jobs/{name}/cancel", "Cancel an evaluation", cancel_evaluation},
    {"GET", "/v1/evaluation/jobs/{name}/status", "How far it is", get_status},
    {"GET", "/v1/evaluation/jobs/{name}/results", "Its results", get_results, "", "200", "application/json", "format",
     true},
    {"GET", "/v1/evaluation/jobs/{name}/logs", "Its log as text", get_logs, "", "200", "text/plain", "follow", true},
    {"GET", "/openapi.json", "This document", get_openapi},
};

}  // namespace routes_detail

std::span<const RouteRow> route_table() { return routes_detail::rows; }

std::vector<web::Route> routes(const FrontPtr& front) {
  return web::to_routes(route_table(), front,
                        {.dialect = web::Dialect::nemo, .body_bytes = routes_detail::largest_body});
}

}  // namespace stackgate::evaluator
