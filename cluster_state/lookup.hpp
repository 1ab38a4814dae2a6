// The rules' view of a live cluster.
//
//   quick()   answers from the watch cache, on any thread, without blocking. Whoever gets "absent" or "unknown" from it
//             has no verdict yet: wants_asking() is then true, and the review is repeated with
//   asking()  which asks the API server about everything it is asked, because the cache may be a moment behind (a
//             Secret made by the same `kubectl apply`, a key that was just added). Its answers hold for this
//             review only. When the API server cannot be asked, what the cache holds counts as present and all else is
//             unknown; "absent" is only ever the API server's own word.
//
// A quick "present" may be behind too: its keys, its state, its users. So a review that ends with findings of reference
// rules is repeated with asking() as well, whatever wants_asking() says.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "cluster_state/asker.hpp"
#include "cluster_state/lookup_source.hpp"
#include "cluster_state/state.hpp"
#include "services/kit/kube/client.hpp"

namespace stackgate::cluster {

struct LookupLimits {
  std::chrono::milliseconds each{1'000};    // one question
  std::chrono::milliseconds review{2'000};  // all questions of one review; stay below the webhook's timeoutSeconds
};

/// Lookups by result, for /metrics. Thread-safe, monotonic.
struct LookupCounters {
  std::atomic<std::uint64_t> cached{0};   // present in the cache
  std::atomic<std::uint64_t> present{0};  // asked: it is there
  std::atomic<std::uint64_t> absent{0};   // asked: it is not
  std::atomic<std::uint64_t> failed{0};   // could not be asked
};

/// Thread-safe.
class ClusterLookup final : public LookupSource {
 public:
  /// What is in namespaces that the state's watches do not cover is asked about each time. Client and state must
  /// outlive this and every lookup that it gave.
  ClusterLookup(kube::Client& client, const State& state, LookupLimits limits = {});

  std::unique_ptr<QuickLookup> quick() override;
  std::unique_ptr<validate::Lookup> asking() override;
  /// Answers from the cache and never asks: absent when a list has shown that it is not there, unknown before. For
  /// whoever looks again as soon as the cache changes. Not counted. Must not outlive this.
  std::unique_ptr<validate::Lookup> cached_only() const;

  const LookupCounters& counters() const { return counters_; }

 private:
  const State& state_;
  ReferenceAsker asker_;
  const LookupLimits limits_;
  LookupCounters counters_;
};

/// Without watches, for one run of a command: plain questions, each asked once and remembered for as long as the lookup
/// lives. For one thread. When the server does not answer it is not asked any more; `error` (may be nullptr) then says
/// why. Client and `error` must outlive it.
std::unique_ptr<validate::Lookup> make_asking_lookup(kube::Client& client, std::string* error = nullptr);

}  // namespace stackgate::cluster
