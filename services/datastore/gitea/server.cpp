#include <algorithm>

#include "services/datastore/gitea/handlers.hpp"

namespace stackgate::datastore::gitea {
namespace {

// Clients of Gitea (its SDK, tea) look whether the server is new enough for a call.
constexpr std::string_view gitea_version = "1.22.0+stackgate";

web::Answer version(Backend&, web::Call&) {
  return json_object(200, [](json::Writer& w) { w.member("version", gitea_version); });
}

/// The kit's readiness in Gitea's spelling: asks nobody, as no probe does.
web::Answer health(Backend& backend, web::Call&) {
  const auto report = backend.readiness->report();
  const auto word = [](bool good) { return good ? "pass" : "fail"; };
  const bool database = std::ranges::none_of(
      report.items, [](const auto& item) { return item.name == "database" && !item.reason.empty(); });
  return json_object(report.ready ? 200 : 503, [&](json::Writer& w) {
    w.member("status", word(report.ready));
    w.member("description", "Stackgate datastore");
    w.object("checks",
             [&] { w.array("database:ping", [&] { w.object([&] { w.member("status", word(database)); }); }); });
  });
}

web::Answer api_settings(Backend&, web::Call&) {
  return json_object(200, [](json::Writer& w) {
    w.member("max_response_items", largest_page);
    w.member("default_paging_num", default_page);
    w.member("default_git_trees_per_page", 1000);
    w.member("default_max_blob_size", 10 * 1024 * 1024);
  });
}

}  // namespace

void add_server_routes(Routes& routes, Backend& backend) {
  add(routes, backend, "GET", "/api/v1/version", version);
  add(routes, backend, "GET", "/api/v1/settings/api", api_settings);
  add(routes, backend, "GET", "/api/healthz", health);
  routes.back().options.on_io_thread = routes.back().options.quiet = true;
}

}  // namespace stackgate::datastore::gitea
