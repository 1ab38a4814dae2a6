// The watches behind the store: what is made for our resources, and their pods. The resources themselves and what they
// refer to are watched by cluster::State.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "reconcile/observe/store.hpp"
#include "reconcile/plan/plan.hpp"
#include "services/kit/kube/shared_watches.hpp"

namespace stackgate::reconcile {

/// Subscribes at construction; the watches are started by whoever owns them.
class ClusterWatches {
 public:
  /// `autoscaling` is the version that discovery found: "autoscaling/v2" or "autoscaling/v2beta2". `watches` and
  /// `store` must outlive this.
  ClusterWatches(kube::SharedWatches& watches, Store& store, std::string_view autoscaling);

  /// All that exists was listed once, the store's cluster::State included.
  bool synced() const;
  Served served() const;
  /// The type under which a child is written: its version may depend on the API server.
  kube::ResourceType resource(ChildType type) const;

 private:
  Store& store_;
  const std::string_view autoscaling_;
  const std::string any_namespace_;
  std::vector<kube::Subscription> subscriptions_;  // by ChildType; that of pods comes last
};

}  // namespace stackgate::reconcile
