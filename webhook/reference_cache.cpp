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

}  // namespace

std::string crd_name(crds::Kind kind) { return kube::to_string(resource_type(kind)); }

ReferenceCache::ReferenceCache(kube::SharedWatches& watches) {
  for (const Referent referent : every_referent) {
    auto cache = std::make_shared<kube::Cache<Fact>>(
        [facts = facts_, referent](const json::Value& object) { return facts->intern(referred_of(referent, object)); });
    referents_[static_cast<std::size_t>(referent)] = {
        cache, watches.subscribe(kube::watch_all(resource_type(referent)), cache)};
  }
  for (const crds::KindInfo& kind : crds::kinds) {
    auto cache = std::make_shared<kube::Cache<Kept>>(
        [facts = facts_, kind = kind.kind](const json::Value& object) { return facts->keep(kind, object); });
    ours_[static_cast<std::size_t>(kind.kind)] = {
        cache, watches.subscribe_optional(kube::watch_all(resource_type(kind.kind)), crd_name(kind.kind), cache)};
  }
}

template <class Each>
void ReferenceCache::for_each_source(Each&& each) const {
  for (const auto& source : referents_)
    if (source.cache != nullptr) each(source);
  for (const auto& source : ours_) each(source);
}

Referred ReferenceCache::find(Referent referent, std::string_view ns, std::string_view name) const {
  Fact found;
  // Asked first: what is listed after it was asked may be in the cache and does no harm.
  kube::Coverage coverage{};
  if (referent == Referent::inference_cache) {
    const auto& source = ours_[static_cast<std::size_t>(crds::Kind::inference_cache)];
    coverage = source.subscription.coverage(ns);
    if (const auto kept = source.cache->find(ns, name)) found = kept->referred;
  } else {
    const auto& source = referents_[static_cast<std::size_t>(referent)];
    coverage = source.subscription.coverage(ns);
    found = source.cache->find(ns, name).value_or(nullptr);
  }
  if (found != nullptr) return *found;
  Referred out;
  out.presence =
      coverage == kube::Coverage::listed || coverage == kube::Coverage::absent ? Presence::absent : Presence::unknown;
  return out;
}

bool ReferenceCache::neighbours(std::string_view ns, std::vector<validate::Neighbour>& out,
                                const validate::Wanted* wanted) const {
  const std::size_t before = out.size();
  for (const crds::KindInfo& kind : crds::kinds) {
    const auto& source = ours_[static_cast<std::size_t>(kind.kind)];
    const kube::Coverage coverage = source.subscription.coverage(ns);
    // A kind that the server does not know has no objects.
    if (coverage != kube::Coverage::listed && coverage != kube::Coverage::absent) {
      out.resize(before);
      return false;
    }
    source.cache->for_each(ns, [&](std::string_view name, const Kept& kept) {
      if (wanted == nullptr || is_wanted(*wanted, kind.kind, name, kept))
        out.push_back(neighbour_of(kind.kind, name, kept));
    });
  }
  return true;
}

bool ReferenceCache::synced() const {
  if (synced_) return true;
  bool all = true;
  for_each_source([&all](const auto& source) { all = all && source.subscription.settled(); });
  if (all) synced_ = true;
  return all;
}

std::size_t ReferenceCache::objects() const {
  std::size_t out = 0;
  for_each_source([&out](const auto& source) { out += source.cache->size(); });
  return out;
}

}  // namespace stackgate::webhook
