// Engines of others behind us: their adapters are kept as ours are, and requests are passed on to them. Thread-safe.
#pragma once
#include <chrono>
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

class Upstream {
 public:
  /// Begins to look at the replicas. `metrics` must outlive it.
  static std::shared_ptr<Upstream> start(Options options, Adapters adapters, metrics::Registry& metrics);
  ~Upstream();

  /// Completions, chat, embeddings, models. They hold this.
  static std::vector<web::Route> routes(const std::shared_ptr<Upstream>& upstream);
  /// Whether a replica answers.
  std::expected<void, Error> ready() const;
  void stop();

  struct Impl;

 private:
  explicit Upstream(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace stackgate::inference::upstream
