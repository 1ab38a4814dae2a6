// Engines of others behind us: their adapters are kept as ours are, and requests are passed on to them. Thread-safe.
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

#include "services/inference/api/failures.hpp"
#include "services/inference/upstream/plan/sync.hpp"
#include "services/kit/base/error.hpp"
#include "services/kit/metrics/registry.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::inference::upstream {

struct Options {
  std::vector<std::string> urls{};            // of replicas: "http://vllm:8000/v1", also without "/v1"
  std::optional<Kind> kind{};                 // nothing: found out
  std::string api_key_file{};                 // read at each round; empty: none
  std::string adapter_dir{};                  // where AdapterStore keeps directories
  std::string upstream_dir{};                 // the same as the engines see it; empty: equal
  std::chrono::milliseconds interval{1'000};  // between two looks at the replicas
  std::chrono::milliseconds head{600'000};    // until an answer's head
};

/// Adapters that we serve. Functions that do not block, but `hold`.
struct Adapters {
  std::function<std::vector<OfferedAdapter>()> offered;
  std::function<AdapterState(std::string_view name)> state;
  /// Keeps an adapter's directory as long as what is returned; nullptr: it cannot be had.
  std::function<std::shared_ptr<const void>(const std::string& name)> hold;
};

/// What a replica makes of an adapter.
struct ReplicaState {
  enum class Word : std::uint8_t { loaded, pending, refused, unreachable } word = Word::pending;
  std::string url;
  std::string reason{};  // refused, unreachable
};

class Upstream {
 public:
  /// Begins to look at the replicas. `metrics` must outlive it.
  static std::shared_ptr<Upstream> start(Options options, Adapters adapters, metrics::Registry& metrics);
  ~Upstream();

  /// What is passed on, and the lists of models. They hold this.
  static std::vector<web::Route> routes(const std::shared_ptr<Upstream>& upstream);
  /// Whether a replica answers. At first it waits, until one does or all have been asked, but no longer than `limit`.
  std::expected<void, Error> ready(std::chrono::milliseconds limit) const;
  /// Of an adapter that requests may name, in the replicas' order; nothing for others.
  std::vector<ReplicaState> states_of(std::string_view name) const;
  /// What is in progress ends now: streams with an event that says so, other requests with 503.
  void end_requests();
  void stop();

  struct Impl;

 private:
  explicit Upstream(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace stackgate::inference::upstream
