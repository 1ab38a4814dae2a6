// The adapters that a server may answer with: found in a source, checked, kept on the disk and in memory, replaced and
// forgotten as the source says. What the HTTP front and the engine, or an upstream, ask. Thread-safe.
#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/inference/adapters/cache.hpp"
#include "services/inference/adapters/catalogue/catalogue.hpp"
#include "services/inference/adapters/catalogue/two_tier_lru.hpp"
#include "services/inference/adapters/check.hpp"
#include "services/inference/adapters/served.hpp"
#include "services/inference/adapters/source.hpp"
#include "services/inference/api/failures.hpp"
#include "services/kit/metrics/registry.hpp"

namespace stackgate::inference {

struct AdapterStoreOptions {
  std::string source{};  // INF_PEFT_SOURCE: an http(s) URL is an entitystore's, else a directory; empty: none
  /// INF_PEFT_REFRESH_INTERVAL; nothing: 30 s, and a directory is read once.
  std::optional<std::chrono::seconds> refresh_interval{};
  std::string data_dir{};
  std::size_t resident = 8;                // INF_MAX_GPU_LORAS
  std::size_t memory = 16;                 // INF_MAX_CPU_LORAS, at least `resident`
  std::vector<std::string> base_names{};   // what the base model answers to
  std::vector<std::string> base_models{};  // what adapters may call it; empty: all are meant for it
  EntityStoreOptions entity_store{};       // but the URL
  std::string allowed_directory{};         // of load(); empty: it refuses
  CheckAdapter check{};
  LoadAdapterWeights load{};  // empty: only directories are kept, ServedAdapter::weights is nullptr
  /// A version answers no request any more, and the last one has ended. On any thread; must not wait.
  std::function<void(std::uint64_t key)> gone{};
  FailPoint fail_point{};
};

/// A sentence for each thing that does not fit together.
std::vector<std::string> faults_of(const AdapterStoreOptions& options);

struct AdapterInfo {
  std::string id, name, version, source, created_at;
  Fitness fitness = Fitness::pending;
  std::string reason;                                   // failing, refused
  std::optional<std::chrono::seconds> next_attempt_in;  // failing
  std::uint32_t rank = 0;                               // fit
  Residency residency = Residency::disk;                // fit
  bool at_run_time = false;
};

/// What a request may name now.
struct NamedAdapter {
  std::string name;  // "support" or "support@1.0.0"
  std::string id, source, created_at, directory;
  std::uint64_t key = 0;
  std::uint32_t rank = 0;
  bool has_patterns = false;  // vLLM would answer otherwise: model::Adapter
};

class AdapterStore {
 public:
  using Acquired = std::move_only_function<void(std::expected<ServedAdapterPtr, web::Failure>)>;
  using Done = std::move_only_function<void(std::expected<void, web::Failure>)>;

  /// Takes the data directory; reads what is there, so that it serves before the source has answered; begins to poll.
  /// `metrics` must outlive it. The error is a sentence.
  static std::expected<std::unique_ptr<AdapterStore>, std::string> open(AdapterStoreOptions options,
                                                                        metrics::Registry& metrics);
  /// Waits for what is under way.
  ~AdapterStore();

  /// For ServedNames; never waits for a disk or a network.
  AdapterState state(std::string_view name) const;
  /// By name, then version.
  std::vector<AdapterInfo> list() const;
  /// By name.
  std::vector<NamedAdapter> named() const;

  /// `then` is called once, here and now when the adapter is in memory, else on another thread; it must not wait.
  /// Unknown: 404. Not fit: 503 with Retry-After.
  void acquire(std::string_view name, Acquired then);

  /// The source is asked now, and what rests is tried again.
  void refresh();
  /// As vLLM's calls at run time; 400 and 404 in its words. `then` comes on another thread.
  void load(std::string name, std::string directory, bool in_place, Done then);
  std::expected<void, web::Failure> unload(std::string_view name);

  /// Whether the source, or what is on the disk of it, has been read: for readiness.
  bool has_listed() const;

 private:
  struct Impl;
  explicit AdapterStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stackgate::inference
