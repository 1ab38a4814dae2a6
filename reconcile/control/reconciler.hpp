// One look at one resource: what it should have is compared with what it has, and the difference is written.
//
//   store ─→ rules ─→ plan ─→ verdict for each child ─→ writes, pruning ─→ status
//
// Level-based: it does not know why it was called, and calling it once too often costs no request. Errors never leave
// half a decision behind: whatever was written stays true, and the next pass goes on from there.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reconcile/control/child_writer.hpp"
#include "reconcile/control/late_warnings.hpp"
#include "reconcile/observe/cluster_watches.hpp"
#include "reconcile/observe/observation.hpp"
#include "reconcile/observe/store.hpp"
#include "reconcile/plan/plan.hpp"
#include "services/kit/kube/client.hpp"
#include "validators/lookup.hpp"
#include "validators/rulebook.hpp"

namespace stackgate::reconcile {

struct Pass {
  enum class Result : std::uint8_t {
    settled,       // nothing is left to do until something changes
    status_waits,  // children were written; the status may wait until there is less to do
    try_again,     // something failed that time may cure
  } result = Result::settled;
  unsigned writes = 0;   // of any kind, as answered with success
  unsigned repairs = 0;  // of the writes: children put back after somebody else had changed or deleted them
  std::string error;     // with try_again: the first failure, or what is waited for
  /// With try_again: nothing failed, but another object has a child's name. `for_a_person`: somebody has to remove it;
  /// no watch reports when.
  enum class Waiting : std::uint8_t { no, for_deletion, for_a_person } waiting = Waiting::no;
  bool news = false;                                // with waiting: that was found out in this pass
  std::optional<std::chrono::seconds> look_after;   // it has to be looked at once more then, whatever the result
  std::optional<std::chrono::seconds> look_within;  // with try_again: the longest wait until the next pass
};

/// What one pass needs beside the cluster.
struct ReconcilerOptions {
  Settings settings;
  validate::Options rules;
  /// A lookup that answers from caches and says absent where it must be so; called at each look at a resource: up to
  /// three in a pass that writes.
  std::function<std::unique_ptr<validate::Lookup>()> lookup;
  /// Asked before each write: false ends the pass with try_again.
  std::function<bool()> may_write;
  /// Records an event for users; called after the status that it goes with was written.
  std::function<void(const Resource& resource, const EventNote& note)> record;
};

/// Thread-safe for different keys; one key must not be in two passes at once.
class Reconciler {
 public:
  /// All references must outlive it.
  Reconciler(kube::Client& client, Store& store, const ClusterWatches& watches, ReconcilerOptions options);

  /// Blocks while it writes. With `defer_status` a pass that wrote children leaves the status to the next pass.
  Pass run(const Key& key, bool defer_status);

 private:
  struct Progress;
  /// The rules run, and what they and the observation asked about brings the resource back when it changes.
  Plan plan_for(const Key& key, const Observation& view);
  void write_children(const Key& key, const Observation& view, const Plan& plan, Progress& progress);
  /// What is missing is only noted in `missing`.
  void write_child(const Key& key, const Observation& view, const DesiredChild& child, Progress& progress,
                   std::vector<ChildWriter::Creation>& missing);
  void create(const Key& key, std::span<const ChildWriter::Creation> missing, Progress& progress);
  void adopt(const Key& key, const json::Value& body, const StoredChild& orphan, Progress& progress);
  void prune(const Key& key, const Observation& view, const Plan& plan, Progress& progress);
  void write_status(const Key& key, const Observation& view, const Plan& plan, Progress& progress);

  kube::Client& client_;
  Store& store_;
  const ClusterWatches& watches_;
  const ReconcilerOptions options_;
  const ChildWriter writer_;
  LateWarnings late_;
};

}  // namespace stackgate::reconcile
