// /v1/guardrail/configs[/{namespace}/{name}], as NeMo's guardrails microservice has it. Handlers wait for the database,
// so they work beside those of chats.
#include <algorithm>
#include <array>
#include <ranges>

#include "services/guardrail/managed/managed.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/body_schema.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::uint64_t largest_body = 10U << 20U, page_size = 10, largest_page = 1'000;
constexpr std::array<std::string_view, 3> sort_fields = {"created_at", "updated_at", "name"};

std::string_view sorted_by(const ManagedConfig& config, std::string_view field) {
  if (field == "name") return config.name;
  return field == "updated_at" ? config.updated_at : config.created_at;
}

/// What sorts the same stays in the order of names.
std::vector<const ManagedConfig*> sorted(const ManagedConfigurations::ByName& known, const web::Sort& by) {
  std::vector<const ManagedConfig*> out;
  out.reserve(known.size());
  for (const auto& [name, each] : known) out.push_back(&each.config);
  std::ranges::stable_sort(out, [&](const ManagedConfig* a, const ManagedConfig* b) {
    return by.descending ? sorted_by(*b, by.field) < sorted_by(*a, by.field)
                         : sorted_by(*a, by.field) < sorted_by(*b, by.field);
  });
  return out;
}

web::Answer list(ManagedConfigurations& managed, web::Call& call) {
  const web::Page page = TRY(web::read_page(call.query(), web::nemo_pages, page_size, largest_page));
  const web::Sort by = TRY(web::read_sort(call.query(), sort_fields, {"created_at", true}));
  const auto known = TRY(managed.all());
  std::vector<ManagedConfig> shown;
  const auto begin = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(page.offset(), known->size()));
  const auto most = static_cast<std::ptrdiff_t>(page.size);
  for (const ManagedConfig* each : sorted(*known, by) | std::views::drop(begin) | std::views::take(most))
    shown.push_back(*each);
  return web::json_answer(
      managed_config_list(shown, page, known->size(), std::string(by.descending ? "-" : "").append(by.field)));
}

web::Answer create(ManagedConfigurations& managed, web::Call& call) {
  const json::Value* body = TRY(web::read_object(call));
  auto config = read_managed_config(*body);
  if (!config) return web::unprocessable(std::move(config.error()));
  return web::json_answer(managed_config_json(TRY(managed.create(*std::move(config)))), {}, 201);
}

web::Answer get(ManagedConfigurations& managed, web::Call& call) {
  return web::json_answer(managed_config_json(TRY(managed.get(call.parameter("namespace"), call.parameter("name")))));
}

using Reader = std::expected<ManagedConfig, validate::Findings> (*)(const ManagedConfig&, const json::Value&);

template <Reader read>
web::Answer change(ManagedConfigurations& managed, web::Call& call) {
  const json::Value* body = TRY(web::read_object(call));
  const auto changed = TRY(managed.change(call.parameter("namespace"), call.parameter("name"),
                                          [&](const ManagedConfig& old) { return read(old, *body); }));
  return web::json_answer(managed_config_json(changed));
}

web::Answer remove(ManagedConfigurations& managed, web::Call& call) {
  return web::json_answer(
      deleted_config_json(TRY(managed.remove(call.parameter("namespace"), call.parameter("name")))));
}

struct Row {
  std::string_view method, pattern;
  web::Answer (*handle)(ManagedConfigurations&, web::Call&);
};

constexpr std::string_view all_of_them = "/v1/guardrail/configs",
                           one_of_them = "/v1/guardrail/configs/{namespace}/{name}";
constexpr Row rows[] = {
    {"GET", all_of_them, list},      {"POST", all_of_them, create},
    {"GET", one_of_them, get},       {"PUT", one_of_them, change<replace_managed_config>},
    {"DELETE", one_of_them, remove}, {"PATCH", one_of_them, change<patch_managed_config>},
};

}  // namespace

std::vector<web::Route> managed_routes(const std::shared_ptr<ManagedConfigurations>& managed) {
  std::vector<web::Route> out;
  for (const Row& each : rows)
    out.push_back({each.method,
                   each.pattern,
                   [managed, handle = each.handle](web::Call& call) { return handle(*managed, call); },
                   {.dialect = web::Dialect::nemo, .transfer = true, .body_bytes = largest_body}});
  return out;
}

}  // namespace stackgate::guardrail
