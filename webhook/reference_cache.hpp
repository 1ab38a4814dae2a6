// The watches behind the lookups: what exists in the cluster, as far as resources can refer to it.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/kube/cache.hpp"
#include "services/kit/kube/client.hpp"
#include "webhook/reference_facts.hpp"

namespace stackgate::webhook {

/// How one watch is doing; for readiness, metrics and messages.
struct WatchReport {
  std::string type;  // "secrets", "inferencecaches.stackgate.dev"
  std::string ns;    // empty: all
  kube::WatchHealth health;
};

/// Thread-safe. Holds names, key names and a few words of each object, never a Secret's values.
class ReferenceCache {
 public:
  /// Starts watching `namespaces` (empty: all of them) at once. The transport must outlive this.
  ReferenceCache(kube::Transport& transport, const std::vector<std::string>& namespaces);

  /// What the cache knows: present or absent once the type was listed, otherwise unknown.
  validate::Referred find(validate::Referent referent, std::string_view ns, std::string_view name) const;
  /// Appends our resources of the namespace; false when not every kind was listed.
  bool neighbours(std::string_view ns, std::vector<validate::Neighbour>& out) const;

  /// Every type was listed once, apart from those that the server refuses or does not know.
  bool synced() const;
  std::vector<WatchReport> report() const;
  std::size_t objects() const;

 private:
  template <class T>
  struct Source {
    std::string ns;  // empty: all, or cluster-wide
    std::shared_ptr<kube::Cache<T>> cache;
    kube::Watch watch;
  };
  template <class T>
  using Sources = std::vector<Source<T>>;
  using Fact = std::shared_ptr<const validate::Referred>;

  template <class T>
  static const Source<T>* source_of(const Sources<T>& sources, std::string_view ns);
  template <class Each>
  void for_each_watch(Each&& each) const;

  std::shared_ptr<FactStore> facts_ = std::make_shared<FactStore>();
  Sources<Fact> referents_[8];  // by validate::Referent; that of inference_cache is empty
  Sources<Kept> ours_[8];       // by crds::Kind
};

}  // namespace stackgate::webhook
