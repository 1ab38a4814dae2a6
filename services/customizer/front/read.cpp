// GET: customizations, how far they are, what can be customized.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/customizer/api/show.hpp"
#include "services/customizer/front/front.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/json.hpp"
#include "services/kit/web/paging.hpp"
#include "services/kit/web/query_values.hpp"

namespace stackgate::customizer {
namespace read_detail {

constexpr std::uint64_t page_size = 10, largest_page = 1'000;
constexpr std::int64_t points_at_once = 10'000, shown_points = 500, shown_logs = 200;
constexpr std::array<std::string_view, 1> sort_fields = {"created_at"};
constexpr std::array<std::string_view, 3> filters = {"filter[state]", "filter[status]", "filter[model]"};

struct Shown {
  std::vector<MetricPoint> points{};
  std::vector<StatusLog> logs{};
  Seconds now = 0;
  ShownWith with() const { return {points, logs}; }
};
std::expected<Shown, ServiceError> shown(const Front& front, const Customization& job) {
  Shown out{.points = TRY(front.records().curves(job.id, shown_points))};
  for (const Event& each : TRY(front.records().events(job.id, 0, shown_logs)))
    out.logs.push_back({each.at, each.message, each.detail});
  out.now = TRY(front.records().now());
  return out;
}

void write_list(json::Writer& w, const web::Page& page, std::size_t count, std::uint64_t total,
                const auto& write_rows) {
  w.object([&] {
    w.member("object", "list");
    w.array("data", write_rows);
    web::write_pagination(w, page, count, total);
  });
}

/// A page of a map of the catalogue.
web::Answer page_of(web::Call& call, const auto& all, const auto& write) {
  const web::Page page = TRY(web::read_page(call.query(), web::nemo_pages, page_size, largest_page));
  const std::uint64_t begin = std::min<std::uint64_t>(page.offset(), all.size());
  const std::uint64_t count = std::min<std::uint64_t>(page.size, all.size() - begin);
  return web::json_answer([&](json::Writer& w) {
    write_list(w, page, count, all.size(), [&] {
      auto each = std::next(all.begin(), static_cast<std::ptrdiff_t>(begin));
      for (std::uint64_t i = 0; i < count; ++i, ++each) write(w, each->second);
    });
  });
}

}  // namespace read_detail

using namespace read_detail;

std::expected<Stored, ServiceError> find_customization(const Front& front, web::Call& call) {
  const std::string name(call.parameter("name"));
  auto found = TRY(front.records().find(name));
  if (found) return std::move(*found);
  return std::unexpected(
      ServiceError{.fault = ServiceFault::missing, .message = fmt::format("there is no customization \"{}\"", name)});
}

std::expected<std::string, ServiceError> record_of(const Front& front, const Customization& job) {
  const Shown with = TRY(shown(front, job));
  return customization_json(job, with.now, with.with());
}

web::Answer list_customizations(const Front& front, web::Call& call) {
  const web::Query& query = call.query();
  const web::Page page = TRY(web::read_page(query, web::nemo_pages, page_size, largest_page));
  const web::Sort sort = TRY(web::read_sort(query, sort_fields, {"created_at", true}));
  TRY(web::only_filters(query, filters));
  std::string_view state;
  for (const std::string_view name : {"filter[state]", "filter[status]"})
    if (query.get(name)) state = TRY(web::read_word(query, name, state_names));
  const std::string model(query.get("filter[model]").value_or(""));
  const auto listed = TRY(front.records().list({.state = state_named(state),
                                                .model = model,
                                                .oldest_first = !sort.descending,
                                                .offset = static_cast<std::int64_t>(page.offset()),
                                                .limit = static_cast<std::int64_t>(page.size)}));
  const Seconds now = TRY(front.records().now());
  return web::json_answer([&](json::Writer& w) {
    w.object([&] {
      w.member("object", "list");
      w.array("data", [&] {
        for (const Customization& each : listed.rows) write_customization(w, each, now);
      });
      web::write_pagination(w, page, listed.rows.size(), static_cast<std::uint64_t>(listed.total));
      w.member("sort", sort.descending ? "-created_at" : "created_at");
      w.object("filter", [&] {
        if (!state.empty()) w.member("state", state);
        if (!model.empty()) w.member("model", model);
      });
    });
  });
}

web::Answer get_customization(const Front& front, web::Call& call) {
  return web::json_answer(TRY(record_of(front, TRY(find_customization(front, call)).job)));
}

web::Answer get_status(const Front& front, web::Call& call) {
  const Stored stored = TRY(find_customization(front, call));
  const Shown with = TRY(shown(front, stored.job));
  return web::json_answer(status_json(stored.job, with.now, with.with()));
}

web::Answer get_metrics(const Front& front, web::Call& call) {
  const Stored stored = TRY(find_customization(front, call));
  const std::int64_t after = TRY(web::read_number(call.query(), "after", 0));
  const auto limit = static_cast<std::int64_t>(TRY(web::read_limit(call.query(), points_at_once, points_at_once)));
  return web::json_answer(metrics_json(TRY(front.records().points(stored.job.id, after, limit))));
}

web::Answer list_targets(const Front& front, web::Call& call) {
  return page_of(call, front.catalogue.now()->targets, show_target);
}

web::Answer list_configs(const Front& front, web::Call& call) {
  return page_of(call, front.catalogue.now()->templates, show_config);
}

}  // namespace stackgate::customizer
