// The watches behind the store: our eight kinds, what is made for them, their pods, and what they refer to.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "reconcile/observe/store.hpp"
#include "reconcile/plan/plan.hpp"
#include "services/kit/kube/shared_watches.hpp"

namespace stackgate::reconcile {

/// Subscribes at construction; the watches are started by whoever owns them.
class World {
 public:
  /// `autoscaling` is the version that discovery found: "autoscaling/v2" or "autoscaling/v2beta2". `watches` and
  /// `store` must outlive this.
  World(kube::SharedWatches& watches, Store& store, std::string_view autoscaling);

  /// All that exists was listed once.
  bool synced() const;
  /// Definitions of our own kinds that the API server does not have: "stackguardrails.stackgate.dev".
  std::vector<std::string> missing_definitions() const;
  Served served() const;
  /// The type under which a child is written: its version may depend on the API server.
  kube::ResourceType resource(ChildType type) const;

 private:
  void watch_resources(kube::SharedWatches& watches);
  void watch_children(kube::SharedWatches& watches);
  void watch_references(kube::SharedWatches& watches);

  Store& store_;
  const std::string_view autoscaling_;
  const std::string any_namespace_;
  std::vector<kube::Subscription> subscriptions_;
  kube::Subscription routes_, monitors_, worker_sets_;
};

}  // namespace stackgate::reconcile
