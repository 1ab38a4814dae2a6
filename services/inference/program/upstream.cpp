#include "services/inference/upstream/upstream.hpp"

#include <filesystem>
#include <future>
#include <string>

#include "services/inference/front/adapter_routes.hpp"
#include "services/inference/program/program.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/health.hpp"

namespace stackgate::inference {
namespace upstream_detail {

constexpr std::size_t all = 65'536;  // directories take no memory
constexpr std::uint32_t highest_rank = 1'024;

/// Engines are told of it, so it says where it is from the root on.
std::string data_directory(const settings::Values& values) {
  return std::filesystem::absolute(values.text("data-dir")).lexically_normal().string();
}

std::expected<std::shared_ptr<AdapterStore>, Error> open_directories(const settings::Values& values,
                                                                     metrics::Registry& metrics) {
  AdapterStoreOptions options{.source = values.text("peft-source"),
                              .data_dir = data_directory(values),
                              .resident = all,
                              .memory = all,
                              .allowed_directory = values.text("adapter-dir"),
                              .check = check_alone({.max_rank = highest_rank})};
  if (const std::string& base = values.text("served-model-name"); !base.empty()) {
    options.base_names = {base};
    if (options.source.starts_with("http://") || options.source.starts_with("https://")) options.base_models = {base};
  }
  if (values.has("peft-refresh-interval"))
    options.refresh_interval = std::chrono::seconds(values.integer("peft-refresh-interval"));
  auto store = AdapterStore::open(std::move(options), metrics);
  if (!store) return std::unexpected(Error{std::move(store.error())});
  return std::shared_ptr<AdapterStore>(std::move(*store));
}

/// `store` may be nullptr: nobody has any.
upstream::Adapters view_of(const std::shared_ptr<AdapterStore>& store) {
  if (!store)
    return {.offered = [] { return std::vector<upstream::OfferedAdapter>(); },
            .state = [](std::string_view) { return AdapterState::unknown; },
            .hold = [](const std::string&) { return std::shared_ptr<const void>(); }};
  return {.offered =
              [store] {
                std::vector<upstream::OfferedAdapter> out;
                for (NamedAdapter& each : store->named())
                  out.push_back({std::move(each.name), each.key, std::move(each.directory), each.has_patterns});
                return out;
              },
          .state = [store](std::string_view name) { return store->state(name); },
          .hold = [store](const std::string& name) -> std::shared_ptr<const void> {
            const auto got = std::make_shared<std::promise<ServedAdapterPtr>>();
            auto later = got->get_future();
            store->acquire(name, [got](std::expected<ServedAdapterPtr, web::Failure> adapter) {
              got->set_value(adapter ? std::move(*adapter) : nullptr);
            });
            return later.get();
          }};
}

std::string_view word(upstream::ReplicaState::Word word) {
  using enum upstream::ReplicaState::Word;
  return word == loaded ? "loaded" : word == pending ? "pending" : word == refused ? "refused" : "unreachable";
}

AdapterPlaces places_of(const std::shared_ptr<upstream::Upstream>& served) {
  return [served](std::string_view name) {
    std::vector<AdapterPlace> out;
    for (upstream::ReplicaState& each : served->states_of(name))
      out.push_back({std::move(each.url), std::string(word(each.word)), std::move(each.reason)});
    return out;
  };
}

}  // namespace upstream_detail

std::expected<service::Parts, Error> build_upstream(const settings::Values& values, metrics::Registry& metrics) {
  using namespace upstream_detail;
  std::shared_ptr<AdapterStore> store;
  if (has_adapters(values)) store = TRY(open_directories(values, metrics));
  const std::string& kind = values.text("upstream-kind");
  const auto served = upstream::Upstream::start({.urls = values.list("upstream-url"),
                                                 .kind = upstream::parse_kind(kind),
                                                 .api_key_file = values.text("upstream-api-key-file"),
                                                 .adapter_dir = data_directory(values) + "/adapters",
                                                 .upstream_dir = values.text("upstream-adapter-dir"),
                                                 .head = std::chrono::milliseconds(values.integer("request-timeout"))},
                                                view_of(store), metrics);
  service::Parts parts{.routes = upstream::Upstream::routes(served),
                       .about = {{"upstream", values.text("upstream-url")}, {"kind", kind}}};
  parts.checks.push_back({"upstream", [served](std::chrono::milliseconds limit) { return served->ready(limit); }});
  if (store)
    for (web::Route& each : adapter_routes(store, values.flag("allow-runtime-lora"), places_of(served)))
      parts.routes.push_back(std::move(each));
  parts.routes.push_back(web::metrics_route(metrics, "/v1/metrics"));
  parts.at_drain_limit = [served] { served->end_requests(); };
  parts.on_stop = [served] { served->stop(); };
  parts.keep = served;
  return parts;
}

}  // namespace stackgate::inference
