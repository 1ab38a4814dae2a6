#include "cluster_state/state.hpp"

#include "cluster_state/pruning.hpp"

namespace stackgate::cluster {

using validate::Presence;
using validate::ReferencedObject;
using validate::ReferenceKind;

namespace {

constexpr std::array every_reference{
    ReferenceKind::secret,          ReferenceKind::config_map,    ReferenceKind::persistent_volume_claim,
    ReferenceKind::service_account, ReferenceKind::storage_class, ReferenceKind::priority_class,
    ReferenceKind::runtime_class};

/// What a reconciler compares of it.
Text contents_of(ReferenceKind kind, const json::Value& object) {
  if (kind == ReferenceKind::secret || kind == ReferenceKind::config_map)
    return std::make_shared<const std::string>(content_hash(object));
  if (kind == ReferenceKind::persistent_volume_claim)
    return std::make_shared<const std::string>(pruned_json(object, {.status = true}));
  return nullptr;
}

}  // namespace

State::State(Contents contents) {
  for (const ReferenceKind kind : every_reference) make(kind, contents == Contents::yes);
  for (const crds::KindInfo& each : crds::kinds) make(each.kind, contents == Contents::yes);
}

void State::make(ReferenceKind kind, bool contents) {
  references_[static_cast<std::size_t>(kind)].cache = std::make_shared<kube::Cache<Known>>(
      [facts = facts_, kind, contents](const json::Value& object) {
        return Known{facts->intern(referred_of(kind, object)), contents ? contents_of(kind, object) : nullptr};
      },
      kube::Cache<Known>::Hooks{
          .stays =
              [](const Known& held, const Known& coming) {
                return held.fact == coming.fact && (held.contents == nullptr || *held.contents == *coming.contents);
              },
          .changed =
              [listener = listener_, kind](std::string_view ns, std::string_view name, const Known*, bool) {
                if (listener->referenced) listener->referenced(kind, ns, name);
              }});
}

void State::make(crds::Kind kind, bool contents) {
  ours_[static_cast<std::size_t>(kind)].cache = std::make_shared<kube::Cache<Kept>>(
      [facts = facts_, kind, contents](const json::Value& object) {
        Kept out = facts->keep(kind, object);
        if (contents) out.stored = std::make_shared<const StoredResource>(stored_resource(object));
        return out;
      },
      kube::Cache<Kept>::Hooks{
          .stays =
              [](const Kept& held, const Kept& coming) {
                return held.stored != nullptr && held.stored->uid == coming.stored->uid &&
                       (held.stored->version == coming.stored->version ||
                        is_stale(held.stored->version, coming.stored->version));
              },
          .changed =
              [listener = listener_, kind](std::string_view ns, std::string_view name, const Kept* now, bool listing) {
                if (listener->resource)
                  listener->resource(kind, ns, name, now == nullptr ? nullptr : now->stored.get(), listing);
              }});
}

void State::subscribe(kube::SharedWatches& watches) {
  if (!watches.namespaces().empty()) any_namespace_ = watches.namespaces().front();
  for (const ReferenceKind kind : every_reference) {
    auto& to = references_[static_cast<std::size_t>(kind)];
    to.subscription = watches.subscribe(kube::watch_all(resource_type(kind)), to.cache);
  }
  for (const crds::KindInfo& each : crds::kinds) {
    auto& to = ours_[static_cast<std::size_t>(each.kind)];
    const kube::ResourceType type = resource_type(each.kind);
    to.subscription = watches.subscribe_optional(kube::watch_all(type), kube::to_string(type), to.cache);
  }
}

template <class Each>
void State::for_each_source(Each&& each) const {
  for (const ReferenceKind kind : every_reference) each(source(kind));
  for (const auto& mine : ours_) each(mine);
}

// --- What the rules ask ---

ReferencedObject State::find(ReferenceKind kind, std::string_view ns, std::string_view name) const {
  std::shared_ptr<const ReferencedObject> found;
  // Coverage first: what is listed after it was read may be in the cache and does no harm.
  kube::Coverage coverage{};
  if (kind == ReferenceKind::inference_cache) {
    const auto& from = source(crds::Kind::inference_cache);
    coverage = from.subscription.coverage(ns);
    if (const auto kept = from.cache->find(ns, name)) found = kept->referred;
  } else {
    const auto& from = source(kind);
    coverage = from.subscription.coverage(ns);
    if (const auto known = from.cache->find(ns, name)) found = known->fact;
  }
  if (found != nullptr) return *found;
  ReferencedObject out;
  out.presence =
      coverage == kube::Coverage::listed || coverage == kube::Coverage::absent ? Presence::absent : Presence::unknown;
  return out;
}

bool State::neighbours(std::string_view ns, std::vector<validate::Neighbour>& out,
                       const validate::NeighbourFilter* wanted) const {
  const std::size_t before = out.size();
  for (const crds::KindInfo& kind : crds::kinds) {
    const auto& from = source(kind.kind);
    const kube::Coverage coverage = from.subscription.coverage(ns);
    // A kind that the server does not know has no objects.
    if (coverage != kube::Coverage::listed && coverage != kube::Coverage::absent) {
      out.resize(before);
      return false;
    }
    from.cache->for_each(ns, [&](std::string_view name, const Kept& kept) {
      if (wanted == nullptr || is_wanted(*wanted, kind.kind, name, kept))
        out.push_back(neighbour_of(kind.kind, name, kept));
    });
  }
  return true;
}

// --- What a reconciler asks ---

std::shared_ptr<const StoredResource> State::resource(crds::Kind kind, std::string_view ns,
                                                      std::string_view name) const {
  const auto found = source(kind).cache->find(ns, name);
  return found ? found->stored : nullptr;
}

void State::for_each_resource(
    crds::Kind kind, const std::function<void(std::string_view, std::string_view, const StoredResource&)>& each) const {
  source(kind).cache->for_each(
      [&](std::string_view ns, std::string_view name, const Kept& kept) { each(ns, name, *kept.stored); });
}

Text State::contents(ReferenceKind kind, std::string_view ns, std::string_view name) const {
  const auto found = source(kind).cache->find(ns, name);
  return found ? found->contents : nullptr;
}

bool State::put_answer(crds::Kind kind, const json::Value& object) { return source(kind).cache->put(object); }

// --- What is known of the whole ---

bool State::synced() const {
  if (synced_) return true;
  bool all = true;
  for_each_source([&all](const auto& each) { all = all && each.subscription.settled(); });
  if (all) synced_ = true;
  return all;
}

std::size_t State::objects() const {
  std::size_t out = 0;
  for_each_source([&out](const auto& each) { out += each.cache->size(); });
  return out;
}

std::vector<std::string> State::missing_definitions() const {
  std::vector<std::string> out;
  for (const crds::KindInfo& each : crds::kinds)
    if (source(each.kind).subscription.coverage(any_namespace_) == kube::Coverage::absent)
      out.push_back(kube::to_string(resource_type(each.kind)));
  return out;
}

}  // namespace stackgate::cluster
