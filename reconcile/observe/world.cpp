#include "reconcile/observe/world.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reconcile/labels.hpp"

namespace stackgate::reconcile {
namespace {

class StoreSink : public kube::WatchSink {
 public:
  StoreSink(Store& store, Shelf shelf, unsigned type) : store_(store), shelf_(shelf), type_(type) {}
  void relist_began() override { store_.begin_round(shelf_, type_); }
  void relist_ended() override { store_.end_round(shelf_, type_); }

 protected:
  Store& store_;

 private:
  const Shelf shelf_;
  const unsigned type_;
};

class ResourceSink final : public StoreSink {
 public:
  ResourceSink(Store& store, crds::Kind kind)
      : StoreSink(store, Shelf::resource, static_cast<unsigned>(kind)), kind_(kind) {}
  void upsert(const json::Value& object) override { store_.put_resource(kind_, object); }
  void remove(const json::Value& object) override { store_.drop_resource(kind_, object); }

 private:
  const crds::Kind kind_;
};

class ChildSink final : public StoreSink {
 public:
  ChildSink(Store& store, ChildType type) : StoreSink(store, Shelf::child, static_cast<unsigned>(type)), type_(type) {}
  void upsert(const json::Value& object) override { store_.put_child(type_, object); }
  void remove(const json::Value& object) override { store_.drop_child(type_, object); }

 private:
  const ChildType type_;
};

class PodSink final : public StoreSink {
 public:
  explicit PodSink(Store& store) : StoreSink(store, Shelf::pod, 0) {}
  void upsert(const json::Value& object) override { store_.put_pod(object); }
  void remove(const json::Value& object) override { store_.drop_pod(object); }
};

class InputSink final : public StoreSink {
 public:
  InputSink(Store& store, ChildType type) : StoreSink(store, Shelf::input, static_cast<unsigned>(type)), type_(type) {}
  void upsert(const json::Value& object) override { store_.put_input(type_, object); }
  void remove(const json::Value& object) override { store_.drop_input(type_, object); }

 private:
  const ChildType type_;
};

class ClaimSink final : public StoreSink {
 public:
  explicit ClaimSink(Store& store) : StoreSink(store, Shelf::claim, 0) {}
  void upsert(const json::Value& object) override { store_.put_claim(object); }
  void remove(const json::Value& object) override { store_.drop_claim(object); }
};

/// Keeps nothing: tells whoever refers to the object.
class ReferenceSink final : public kube::WatchSink {
 public:
  ReferenceSink(Store& store, std::string_view plural) : store_(store), plural_(plural) {}
  void relist_began() override {}
  void relist_ended() override {}
  void upsert(const json::Value& object) override { store_.touch(plural_, object); }
  void remove(const json::Value& object) override { store_.touch(plural_, object); }

 private:
  Store& store_;
  const std::string_view plural_;
};

std::string ours_only() { return fmt::format("{}={}", managed_by_label, managed_by); }

std::string definition_of(const crds::KindInfo& kind) { return fmt::format("{}.{}", kind.plural, crds::api_group); }

/// The gate, in the same process, watches all objects of these types: its watch is shared.
bool is_watched_whole(ChildType type) {
  switch (type) {
    case ChildType::service_account:
    case ChildType::config_map:
    case ChildType::secret:
    case ChildType::persistent_volume_claim:
    case ChildType::inference_service:
      return true;
    default:
      return false;
  }
}

}  // namespace

World::World(kube::SharedWatches& watches, Store& store, std::string_view autoscaling)
    : store_(store),
      autoscaling_(autoscaling),
      any_namespace_(watches.namespaces().empty() ? std::string() : watches.namespaces().front()) {
  watch_resources(watches);
  watch_children(watches);
  watch_references(watches);
}

void World::watch_resources(kube::SharedWatches& watches) {
  for (const crds::KindInfo& each : crds::kinds)
    subscriptions_.push_back(
        watches.subscribe_optional(kube::watch_all({crds::api_group, crds::api_version, each.plural}),
                                   definition_of(each), std::make_shared<ResourceSink>(store_, each.kind)));
}

void World::watch_children(kube::SharedWatches& watches) {
  for (const ChildTypeInfo& each : child_types) {
    kube::WatchTarget target = kube::watch_all(resource(each.type));
    if (!is_watched_whole(each.type)) target.label_selector = ours_only();
    auto sink = std::make_shared<ChildSink>(store_, each.type);
    auto subscription = each.crd.empty() ? watches.subscribe(target, std::move(sink))
                                         : watches.subscribe_optional(target, std::string(each.crd), std::move(sink));
    if (each.type == ChildType::http_route) routes_ = subscription;
    if (each.type == ChildType::service_monitor) monitors_ = subscription;
    if (each.type == ChildType::leader_worker_set) worker_sets_ = subscription;
    subscriptions_.push_back(std::move(subscription));
  }
  subscriptions_.push_back(
      watches.subscribe({.type = {"", "v1", "pods"}, .ns = {}, .label_selector = ours_only(), .field_selector = {}},
                        std::make_shared<PodSink>(store_)));
}

void World::watch_references(kube::SharedWatches& watches) {
  for (const ChildType type : {ChildType::secret, ChildType::config_map})
    subscriptions_.push_back(
        watches.subscribe(kube::watch_all(info(type).resource), std::make_shared<InputSink>(store_, type)));
  subscriptions_.push_back(
      watches.subscribe(kube::watch_all(kube::types::persistent_volume_claims), std::make_shared<ClaimSink>(store_)));
  for (const kube::ResourceType& type : {kube::types::service_accounts, kube::types::storage_classes,
                                         kube::types::priority_classes, kube::types::runtime_classes})
    subscriptions_.push_back(
        watches.subscribe(kube::watch_all(type), std::make_shared<ReferenceSink>(store_, type.plural)));
}

bool World::synced() const {
  return std::ranges::all_of(subscriptions_, [](const kube::Subscription& each) { return each.settled(); });
}

std::vector<std::string> World::missing_definitions() const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < crds::kinds.size(); ++i)  // the first subscriptions
    if (subscriptions_[i].coverage(any_namespace_) == kube::Coverage::absent)
      out.push_back(definition_of(crds::kinds[i]));
  return out;
}

Served World::served() const {
  // All namespaces are served alike.
  const auto is_there = [this](const kube::Subscription& each) {
    return each.coverage(any_namespace_) == kube::Coverage::listed;
  };
  return {.autoscaling = autoscaling_,
          .http_routes = is_there(routes_),
          .service_monitors = is_there(monitors_),
          .leader_worker_sets = is_there(worker_sets_)};
}

kube::ResourceType World::resource(ChildType type) const {
  kube::ResourceType out = info(type).resource;
  if (type == ChildType::horizontal_pod_autoscaler) out.version = autoscaling_.substr(autoscaling_.find('/') + 1);
  return out;
}

}  // namespace stackgate::reconcile
