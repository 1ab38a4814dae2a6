// The watches behind the lookups: what exists in the cluster, as far as resources can refer to it.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/kube/cache.hpp"
#include "services/kit/kube/shared_watches.hpp"
#include "webhook/reference_facts.hpp"

namespace stackgate::webhook {

/// "inferencecaches.stackgate.dev"
std::string crd_name(crds::Kind kind);

/// Thread-safe. Holds names, key names and a few words of each object, never a Secret's values.
class ReferenceCache {
 public:
  /// Subscribes; to be made before `watches` start. Both may end in any order.
  explicit ReferenceCache(kube::SharedWatches& watches);

  /// What the cache knows: present or absent once the type was listed, otherwise unknown.
  validate::Referred find(validate::Referent referent, std::string_view ns, std::string_view name) const;
  /// Appends our resources of the namespace, those that are wanted or all; false when not every kind was listed.
  bool neighbours(std::string_view ns, std::vector<validate::Neighbour>& out,
                  const validate::Wanted* wanted = nullptr) const;

  /// Every type was listed once, apart from those that the server refuses or does not know. Stays true.
  bool synced() const;
  std::size_t objects() const;

 private:
  template <class T>
  struct Source {
    std::shared_ptr<kube::Cache<T>> cache;
    kube::Subscription subscription;
  };
  using Fact = std::shared_ptr<const validate::Referred>;

  template <class Each>
  void for_each_source(Each&& each) const;

  std::shared_ptr<FactStore> facts_ = std::make_shared<FactStore>();
  Source<Fact> referents_[8];  // by validate::Referent; that of inference_cache is empty
  Source<Kept> ours_[8];       // by crds::Kind
  mutable std::atomic<bool> synced_{false};
};

}  // namespace stackgate::webhook
