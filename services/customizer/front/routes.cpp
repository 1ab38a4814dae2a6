#include "services/customizer/front/authorize.hpp"
#include "services/customizer/front/front.hpp"
#include "services/customizer/front/route_table.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::customizer {
namespace routes_detail {

constexpr std::uint64_t largest_body = 1U << 20U;

web::Answer get_openapi(const Front&, web::Call&) { return web::json_answer(openapi_document()); }

constexpr std::string_view all_of_them = "/v1/customizations", all_jobs = "/v1/customization/jobs";
constexpr std::string_view json_type = "application/json",
                           list_query = "page,page_size,sort,filter[state],filter[status],filter[model]",
                           create_headers = "Idempotency-Key,wandb-api-key", events_headers = "Last-Event-ID";
constexpr RouteRow rows[] = {
    {"POST", all_of_them, "Create a customization", create_customization, "Customization", "201", json_type, "dry_run",
     true, create_headers},
    {"GET", all_of_them, "List customizations", list_customizations, "", "200", json_type, list_query},
    {"GET", "/v1/customizations/{name}", "One customization", get_customization},
    {"DELETE", "/v1/customizations/{name}", "Delete a customization that has ended, with its workspace",
     delete_customization, "", "204"},
    {"POST", "/v1/customizations/{name}/cancel", "Cancel a customization", cancel_customization},
    {"POST", "/v1/customizations/{name}/retry", "Try its failed stage again, and no other", retry_customization},
    {"GET", "/v1/customizations/{name}/status", "How far it is", get_status},
    {"GET", "/v1/customizations/{name}/metrics", "Its loss curves", get_metrics, "", "200", json_type, "after,limit"},
    {"GET", "/v1/customizations/{name}/logs", "What happened, and what its stages wrote, as text", get_logs, "", "200",
     "text/plain", "follow", true},
    {"GET", "/v1/customizations/{name}/events", "What happened to it, as a list or as server-sent events", get_events,
     "", "200", json_type, "after", true, events_headers},
    {"POST", all_jobs, "Create a customization from a NeMo job", create_job, "Job", "201", json_type, "dry_run", true,
     create_headers},
    {"GET", all_jobs, "List customizations", list_customizations, "", "200", json_type, list_query},
    {"GET", "/v1/customization/jobs/{name}", "One customization, by its id or name", get_customization},
    {"DELETE", "/v1/customization/jobs/{name}", "Delete a customization that has ended", delete_customization, "",
     "204"},
    {"POST", "/v1/customization/jobs/{name}/cancel", "Cancel a customization", cancel_customization},
    {"POST", "/v1/customization/jobs/{name}/retry", "Try its failed stage again", retry_customization},
    {"GET", "/v1/customization/jobs/{name}/status", "How far it is", get_status},
    {"GET", "/v1/customization/jobs/{name}/metrics", "Its loss curves", get_metrics, "", "200", json_type,
     "after,limit"},
    {"GET", "/v1/customization/jobs/{name}/container-logs", "What its stages wrote, as text", get_logs, "", "200",
     "text/plain", "follow", true},
    {"GET", "/v1/customization/jobs/{name}/events", "What happened to it", get_events, "", "200", json_type, "after",
     true, events_headers},
    {"GET", "/v1/customization/targets", "Models that can be customized", list_targets, "", "200", json_type,
     "page,page_size"},
    {"GET", "/v1/customization/configs", "Configurations of trainings", list_configs, "", "200", json_type,
     "page,page_size"},
    {"GET", "/openapi.json", "This document", get_openapi},
};

}  // namespace routes_detail

using namespace routes_detail;

std::span<const RouteRow> route_table() { return rows; }

std::vector<web::Route> routes(const FrontPtr& front) {
  auto out = web::to_routes(route_table(), front, {.dialect = web::Dialect::nemo, .body_bytes = largest_body});
  if (!front->options.token_file.empty())
    for (web::Route& each : out) each.handler = with_tokens(front->options.token_file, std::move(each.handler));
  return out;
}

}  // namespace stackgate::customizer
