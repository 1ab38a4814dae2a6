#include "reconcile/observe/cluster_watches.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "reconcile/labels.hpp"

namespace stackgate::reconcile {
namespace {

/// Files the children of one type, or pods.
class StoreSink final : public kube::WatchSink {
 public:
  StoreSink(Store& store, std::optional<ChildType> child) : store_(store), child_(child) {}

  void relist_began() override { store_.begin_relist(collection(), type()); }
  void relist_ended() override { store_.end_relist(collection(), type()); }
  void upsert(const json::Value& object) override {
    child_ ? store_.put_child(*child_, object) : store_.put_pod(object);
  }
  void remove(const json::Value& object) override {
    child_ ? store_.drop_child(*child_, object) : store_.drop_pod(object);
  }

 private:
  Collection collection() const { return child_ ? Collection::child : Collection::pod; }
  unsigned type() const { return child_ ? static_cast<unsigned>(*child_) : 0; }

  Store& store_;
  const std::optional<ChildType> child_;
};

std::string ours_only() { return fmt::format("{}={}", managed_by_label, managed_by); }

}  // namespace

ClusterWatches::ClusterWatches(kube::SharedWatches& watches, Store& store, std::string_view autoscaling)
    : store_(store),
      autoscaling_(autoscaling),
      any_namespace_(watches.namespaces().empty() ? std::string() : watches.namespaces().front()) {
  for (const ChildTypeInfo& each : child_types) {
    kube::WatchTarget target = kube::watch_all(resource(each.type));
    if (!each.watched.whole) target.label_selector = ours_only();
    auto sink = std::make_shared<StoreSink>(store_, each.type);
    subscriptions_.push_back(each.optional
                                 ? watches.subscribe_optional(target, kube::to_string(target.type), std::move(sink))
                                 : watches.subscribe(target, std::move(sink)));
  }
  subscriptions_.push_back(
      watches.subscribe({.type = {"", "v1", "pods"}, .ns = {}, .label_selector = ours_only(), .field_selector = {}},
                        std::make_shared<StoreSink>(store_, std::nullopt)));
}

bool ClusterWatches::synced() const {
  return store_.state().synced() &&
         std::ranges::all_of(subscriptions_, [](const kube::Subscription& each) { return each.settled(); });
}

Served ClusterWatches::served() const {
  // All namespaces are served alike.
  const auto is_there = [this](ChildType type) {
    return subscriptions_[static_cast<std::size_t>(type)].coverage(any_namespace_) == kube::Coverage::listed;
  };
  return {.autoscaling = autoscaling_,
          .http_routes = is_there(ChildType::http_route),
          .service_monitors = is_there(ChildType::service_monitor),
          .leader_worker_sets = is_there(ChildType::leader_worker_set)};
}

kube::ResourceType ClusterWatches::resource(ChildType type) const {
  kube::ResourceType out = info(type).resource();
  if (type == ChildType::horizontal_pod_autoscaler) out.version = autoscaling_.substr(autoscaling_.find('/') + 1);
  return out;
}

}  // namespace stackgate::reconcile
