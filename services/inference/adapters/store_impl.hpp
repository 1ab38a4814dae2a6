// The inside of AdapterStore: what its files share.
#pragma once
#include <atomic>
#include <map>
#include <mutex>
#include <stop_token>

#include "services/inference/adapters/memory.hpp"
#include "services/inference/adapters/store.hpp"
#include "services/kit/run/periodic.hpp"
#include "services/kit/run/pool.hpp"

namespace stackgate::inference {

/// Why versions cannot be served, for a reading that may come when the store is gone.
struct FailingAdapters {
  std::mutex mutex;
  std::vector<metrics::Point> points;  // adapter, version, reason; the number of failures in a row
};

struct StoreMetrics {
  explicit StoreMetrics(metrics::Registry& registry);
  metrics::Family<metrics::Gauge>& adapters;  // by state
  metrics::Family<metrics::Counter>& polls;   // by result
  metrics::Family<metrics::Counter>& fetches;
  metrics::Family<metrics::Counter>& loads;
  metrics::Histogram& load_seconds;
  metrics::Gauge& last_list;
  metrics::Gauge& in_memory;
  metrics::Gauge& memory_bytes;
  const std::shared_ptr<FailingAdapters> failing;
};

struct AdapterStore::Impl {
  Impl(AdapterStoreOptions given, std::unique_ptr<AdapterCache> held, metrics::Registry& registry);
  ~Impl();

  /// What is on the disk, checked once more: the base may be another one now.
  void recover();
  void begin();

  // poll.cpp
  std::chrono::milliseconds poll(const std::stop_token& stop);
  void list(const std::stop_token& stop);
  void start_due();
  void fetch(const std::string& id, const AdapterRecord& record);
  std::expected<AdapterVersion, FetchFailure> get(const AdapterRecord& record);
  void keep(const std::string& id, AdapterVersion version);
  void fail(const std::string& id, const FetchFailure& why);
  std::chrono::milliseconds until_next_poll();

  // run_time.cpp
  void load_now(const std::string& name, const std::string& directory, bool in_place, Done then);

  /// The mutex must not be held.
  void drop(const std::vector<CatalogueEntry>& gone);
  void note_states();

  const AdapterStoreOptions options;
  StoreMetrics metrics;
  const std::unique_ptr<AdapterCache> cache;
  std::unique_ptr<AdapterSource> source;  // nullptr: none

  mutable std::mutex mutex;
  Catalogue catalogue;
  std::map<std::uint64_t, AdapterVersion> versions;  // fit ones, by key
  unsigned fetching = 0;
  std::string list_fault;  // the last one that was told
  unsigned list_failures = 0;
  std::atomic<bool> listed{false};

  std::stop_source stopping;
  std::unique_ptr<AdapterMemory> memory;
  std::unique_ptr<run::Pool> fetchers;
  std::unique_ptr<run::Periodic> poller;
};

}  // namespace stackgate::inference
