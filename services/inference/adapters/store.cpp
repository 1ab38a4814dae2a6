#include "services/inference/adapters/store.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "services/inference/adapters/store_impl.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::inference {
namespace {

using namespace std::chrono_literals;

constexpr unsigned fetch_threads = 2;
constexpr std::size_t most_waiting_fetches = 1'000;

web::Failure unavailable(std::string_view name, std::string_view reason, std::chrono::seconds retry_after) {
  return {.status = 503,
          .message = fmt::format("The adapter `{}` cannot be served at present: {}.", name, reason),
          .headers = {{"Retry-After", fmt::format("{}", retry_after.count())}}};
}

std::chrono::seconds until(CatalogueEntry::Time time) {
  return std::max(1s, std::chrono::ceil<std::chrono::seconds>(time - std::chrono::steady_clock::now()));
}

}  // namespace

StoreMetrics::StoreMetrics(metrics::Registry& registry)
    : adapters(registry.gauge("stackgate_inference_adapters", "Versions of adapters that the source lists, by state.",
                              {"state"})),
      polls(registry.counter("stackgate_inference_adapter_polls_total", "Lists that the source was asked for.",
                             {"result"})),
      fetches(registry.counter("stackgate_inference_adapter_fetches_total",
                               "Adapters that were fetched and checked, by how it ended.", {"result"})),
      loads(registry.counter("stackgate_inference_adapter_loads_total", "Adapters read into memory, by how it ended.",
                             {"result"})),
      load_seconds(
          registry.histogram("stackgate_inference_adapter_load_seconds", "How long reading one into memory takes.")
              .at()),
      last_list(
          registry
              .gauge("stackgate_inference_adapter_list_timestamp_seconds", "When the source last answered with a list.")
              .at()),
      in_memory(registry.gauge("stackgate_inference_adapters_in_memory", "Adapters in memory.").at()),
      memory_bytes(registry.gauge("stackgate_inference_adapter_memory_bytes", "What their matrices take.").at()),
      failing(std::make_shared<FailingAdapters>()) {
  registry.gauges_from("stackgate_inference_adapter_failing",
                       "Versions of adapters that cannot be served, and why: failures in a row.",
                       {"adapter", "version", "reason"}, [failing = failing] {
                         const std::lock_guard lock(failing->mutex);
                         return failing->points;
                       });
}

std::vector<std::string> faults_of(const AdapterStoreOptions& options) {
  std::vector<std::string> out;
  if (options.resident == 0) out.emplace_back("INF_MAX_GPU_LORAS must be at least 1");
  if (options.memory < options.resident)
    out.push_back(fmt::format("INF_MAX_CPU_LORAS ({}) must be at least INF_MAX_GPU_LORAS ({})", options.memory,
                              options.resident));
  if (options.refresh_interval && *options.refresh_interval < 1s)
    out.emplace_back("INF_PEFT_REFRESH_INTERVAL must be at least 1 s");
  if (options.data_dir.empty()) out.emplace_back("adapters need a --data-dir to lie in");
  return out;
}

AdapterStore::Impl::Impl(AdapterStoreOptions given, std::unique_ptr<AdapterCache> held, metrics::Registry& registry)
    : options(std::move(given)),
      metrics(registry),
      cache(std::move(held)),
      catalogue(options.base_names, options.base_models) {
  if (options.source.starts_with("http://") || options.source.starts_with("https://")) {
    EntityStoreOptions entity_store = options.entity_store;
    entity_store.url = options.source;
    source = make_entity_store_source(std::move(entity_store));
  } else if (!options.source.empty()) {
    source = make_folder_source(options.source);
  }
  memory = std::make_unique<AdapterMemory>(
      MemoryOptions{.resident = options.resident,
                    .memory = options.memory,
                    .load = options.load,
                    .gone = options.gone,
                    .failed =
                        [this](const AdapterVersion& version, const std::string& reason) {
                          AdapterFilesPtr files;
                          {
                            const std::lock_guard lock(mutex);
                            if (const auto found = versions.find(version.key); found != versions.end()) {
                              files = std::move(found->second.files);
                              versions.erase(found);
                            }
                          }
                          if (files) cache->drop(files);  // and fetched again
                          fail(version.record.id, {reason});
                        },
                    .loaded =
                        [this](bool good, double seconds) {
                          metrics.loads.at({good ? "ok" : "failed"}).add();
                          if (good) metrics.load_seconds.observe(seconds);
                          note_states();
                        }});
  fetchers = std::make_unique<run::Pool>(fetch_threads, most_waiting_fetches);
}

/// Poller, fetchers and memory end in this order, each with its threads, which still use what was declared before.
AdapterStore::Impl::~Impl() { stopping.request_stop(); }

void AdapterStore::Impl::recover() {
  std::vector<AdapterVersion> fit;
  for (CachedAdapter& each : cache->recover(options.source)) {
    auto checked = options.check(each.files->directory());
    if (!checked) {  // another base, or the files are damaged: the source has it again
      log::warning("an adapter on the disk does not fit", {{"adapter", each.record.name}, {"reason", checked.error()}});
      cache->drop(each.files);
      continue;
    }
    catalogue.add_fit(each.record, checked->rank);
    const std::uint64_t key = catalogue.of(each.record.id)->key;
    fit.push_back(
        {.record = std::move(each.record), .key = key, .checked = std::move(*checked), .files = std::move(each.files)});
    versions[key] = fit.back();
  }
  listed = !fit.empty();
  for (const AdapterVersion& each : fit) memory->load_early(each);
  note_states();
}

void AdapterStore::Impl::begin() {
  if (source) poller = std::make_unique<run::Periodic>(0ms, [this](const std::stop_token& stop) { return poll(stop); });
}

AdapterStore::AdapterStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AdapterStore::~AdapterStore() = default;

std::expected<std::unique_ptr<AdapterStore>, std::string> AdapterStore::open(AdapterStoreOptions options,
                                                                             metrics::Registry& metrics) {
  if (const auto faults = faults_of(options); !faults.empty()) return std::unexpected(faults.front());
  auto cache = AdapterCache::open(options.data_dir, options.fail_point);
  if (!cache) return std::unexpected(cache.error());
  auto impl = std::make_unique<Impl>(std::move(options), std::move(*cache), metrics);
  impl->recover();
  impl->begin();
  return std::unique_ptr<AdapterStore>(new AdapterStore(std::move(impl)));
}

AdapterState AdapterStore::state(std::string_view name) const {
  const std::lock_guard lock(impl_->mutex);
  const CatalogueEntry* const found = impl_->catalogue.find(name);
  if (found == nullptr) return AdapterState::unknown;
  return found->fitness == Fitness::fit ? AdapterState::served : AdapterState::failing;
}

std::vector<AdapterInfo> AdapterStore::list() const {
  std::vector<AdapterInfo> out;
  const std::lock_guard lock(impl_->mutex);
  for (const auto& [id, entry] : impl_->catalogue.entries()) {
    const AdapterRecord& record = entry.record;
    AdapterInfo& info = out.emplace_back(AdapterInfo{.id = id,
                                                     .name = record.name,
                                                     .version = record.version,
                                                     .source = record.source,
                                                     .created_at = record.created_at,
                                                     .fitness = entry.fitness,
                                                     .reason = entry.reason,
                                                     .next_attempt_in = {},
                                                     .rank = entry.rank,
                                                     .residency = impl_->memory->residency_of(entry.key),
                                                     .at_run_time = entry.at_run_time});
    if (entry.fitness == Fitness::failing) info.next_attempt_in = until(entry.next_attempt);
  }
  std::ranges::sort(out, {}, [](const AdapterInfo& each) { return std::tie(each.name, each.version, each.id); });
  return out;
}

std::vector<NamedAdapter> AdapterStore::named() const {
  std::vector<NamedAdapter> out;
  const std::lock_guard lock(impl_->mutex);
  for (const auto& [name, entry] : impl_->catalogue.names()) {
    const auto version = impl_->versions.find(entry->key);
    if (entry->fitness != Fitness::fit || version == impl_->versions.end()) continue;
    const AdapterVersion& found = version->second;
    out.push_back({.name = name,
                   .id = found.record.id,
                   .source = found.record.source,
                   .created_at = found.record.created_at,
                   .directory = found.files->directory(),
                   .key = found.key,
                   .rank = found.checked.rank,
                   .has_patterns = found.checked.has_patterns});
  }
  return out;
}

void AdapterStore::acquire(std::string_view name, Acquired then) {
  std::optional<AdapterVersion> version;
  std::optional<web::Failure> failure;
  {
    const std::lock_guard lock(impl_->mutex);
    const CatalogueEntry* const found = impl_->catalogue.find(name);
    const auto known = found == nullptr ? impl_->versions.end() : impl_->versions.find(found->key);
    if (found == nullptr)
      failure = no_such_model(name, "model");
    else if (found->fitness == Fitness::failing)
      failure = unavailable(name, found->reason, until(found->next_attempt));
    else if (known == impl_->versions.end())
      failure = unavailable(name, "it is being fetched", 1s);
    else
      version = known->second;
  }
  if (failure) return then(std::unexpected(std::move(*failure)));
  impl_->memory->acquire(*version, [name = std::string(name), then = std::move(then)](auto adapter) mutable {
    if (adapter)
      then(std::move(*adapter));
    else
      then(std::unexpected(unavailable(name, adapter.error(), 5s)));
  });
}

void AdapterStore::refresh() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->catalogue.retry_now();
  }
  if (impl_->poller) impl_->poller->wake();
}

bool AdapterStore::has_listed() const { return impl_->listed; }

}  // namespace stackgate::inference
