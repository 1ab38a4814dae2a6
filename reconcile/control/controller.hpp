// The queue and the workers around the reconciler: what is looked at, by whom and when.
//
//   store says "changed" → queue → worker → Reconciler::run → settled | later with low priority | again after a
//   back-off
//
// Work is done by the leader only. Whoever is not keeps its store up to date, so that it can begin at once.
#pragma once
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "reconcile/control/reconcile_metrics.hpp"
#include "reconcile/control/reconciler.hpp"
#include "services/kit/kube/work_queue.hpp"

namespace stackgate::reconcile {

class Controller {
 public:
  using Queue = kube::WorkQueue<Key, KeyHash>;

  /// Workers start at once and wait. All references must outlive it.
  Controller(Reconciler& reconciler, const Store& store, ReconcileMetrics& metrics, unsigned workers);
  /// stop()
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  /// From now on changes are worked on, first of all every resource once.
  void lead();
  /// Nothing new is begun. Passes that are under way notice by ReconcilerOptions::may_write.
  void follow();
  bool leading() const { return leading_; }

  /// For good: nothing new is begun, what is in work ends.
  void stop();

  /// For Store's `changed`.
  void changed(const Key& key);

  kube::QueueNumbers queue() const { return queue_.numbers(); }

 private:
  void work();
  void handle(const Queue::Taken& taken);

  Reconciler& reconciler_;
  const Store& store_;
  ReconcileMetrics& metrics_;
  Queue queue_;
  std::atomic<bool> leading_{false};
  std::vector<std::jthread> workers_;
};

}  // namespace stackgate::reconcile
