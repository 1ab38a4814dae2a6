#include "webhook/reference_cache.hpp"

namespace stackgate::webhook {
namespace {

using validate::Presence;
using validate::Referent;
using validate::Referred;

constexpr Referent every_referent[] = {
    Referent::secret,          Referent::config_map,    Referent::persistent_volume_claim,
    Referent::service_account, Referent::storage_class, Referent::priority_class,
    Referent::runtime_class};

/// Large or numerous Secrets that no resource of ours refers to. One that does is found by asking.
std::string selector_of(Referent referent) {
  return referent == Referent::secret ? "type!=helm.sh/release.v1,type!=kubernetes.io/service-account-token" : "";
}

}  // namespace

ReferenceCache::ReferenceCache(kube::Transport& transport, const std::vector<std::string>& namespaces) {
  const std::vector<std::string> everywhere{""};
  const std::vector<std::string>& chosen = namespaces.empty() ? everywhere : namespaces;
  for (const Referent referent : every_referent) {
    const kube::ResourceType type = resource_type(referent);
    for (const std::string& ns : type.namespaced ? chosen : everywhere) {
      auto cache = std::make_shared<kube::Cache<Fact>>([facts = facts_, referent](const json::Value& object) {
        return facts->intern(referred_of(referent, object));
      });
      referents_[static_cast<std::size_t>(referent)].push_back(
          {ns, cache, kube::Watch(transport, {type, ns, "", selector_of(referent)}, cache)});
    }
  }
  for (const crds::KindInfo& kind : crds::kinds)
    for (const std::string& ns : chosen) {
      auto cache = std::make_shared<kube::Cache<Kept>>(
          [facts = facts_, kind = kind.kind](const json::Value& object) { return facts->keep(kind, object); });
      ours_[static_cast<std::size_t>(kind.kind)].push_back(
          {ns, cache, kube::Watch(transport, {resource_type(kind.kind), ns, "", ""}, cache)});
    }
}

template <class T>
const ReferenceCache::Source<T>* ReferenceCache::source_of(const Sources<T>& sources, std::string_view ns) {
  for (const Source<T>& each : sources)
    if (each.ns.empty() || each.ns == ns) return &each;
  return nullptr;
}

template <class Each>
void ReferenceCache::for_each_watch(Each&& each) const {
  for (const auto& sources : referents_)
    for (const auto& source : sources) each(source);
  for (const auto& sources : ours_)
    for (const auto& source : sources) each(source);
}

Referred ReferenceCache::find(Referent referent, std::string_view ns, std::string_view name) const {
  Fact found;
  bool synced = false;
  if (referent == Referent::inference_cache) {
    const auto* source = source_of(ours_[static_cast<std::size_t>(crds::Kind::inference_cache)], ns);
    if (source == nullptr) return {};
    synced = source->watch.synced();
    if (const auto kept = source->cache->find(ns, name)) found = kept->referred;
  } else {
    const auto* source = source_of(referents_[static_cast<std::size_t>(referent)], ns);
    if (source == nullptr) return {};
    synced = source->watch.synced();
    found = source->cache->find(ns, name).value_or(nullptr);
  }
  if (found != nullptr) return *found;
  Referred out;
  out.presence = synced ? Presence::absent : Presence::unknown;
  return out;
}

bool ReferenceCache::neighbours(std::string_view ns, std::vector<validate::Neighbour>& out) const {
  const std::size_t before = out.size();
  for (const crds::KindInfo& kind : crds::kinds) {
    const auto* source = source_of(ours_[static_cast<std::size_t>(kind.kind)], ns);
    // A kind that the server does not know has no objects.
    if (source == nullptr || (!source->watch.synced() && !source->watch.health().missing)) {
      out.resize(before);
      return false;
    }
    source->cache->for_each(
        ns, [&](std::string_view name, const Kept& kept) { out.push_back(neighbour_of(kind.kind, name, kept)); });
  }
  return true;
}

bool ReferenceCache::synced() const {
  bool all = true;
  for_each_watch([&all](const auto& source) {
    if (!all || source.watch.synced()) return;
    const kube::WatchHealth health = source.watch.health();
    all = health.denied || health.missing;
  });
  return all;
}

std::vector<WatchReport> ReferenceCache::report() const {
  std::vector<WatchReport> out;
  for_each_watch([&out](const auto& source) {
    out.push_back({kube::to_string(source.watch.target().type), source.ns, source.watch.health()});
  });
  return out;
}

std::size_t ReferenceCache::objects() const {
  std::size_t out = 0;
  for_each_watch([&out](const auto& source) { out += source.cache->size(); });
  return out;
}

}  // namespace stackgate::webhook
