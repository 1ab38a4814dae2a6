// What this process knows of the cluster, as far as resources of ours can name it: one copy for the rules of the gate
// and for the reconciler. Filled by watches; whoever has to act on a change listens.
//
//   State state(State::Contents::yes);
//   state.listen({…});
//   state.subscribe(watches);
//   watches.start();
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster_state/facts.hpp"
#include "services/kit/kube/cache.hpp"
#include "services/kit/kube/shared_watches.hpp"

namespace stackgate::cluster {

/// Called on the watches' thread, without a lock held, after a change can be read here.
struct Listener {
  /// An object that is none of ours came, changed in what is kept of it, or went.
  std::function<void(validate::ReferenceKind kind, std::string_view ns, std::string_view name)> referenced = {};
  /// One of our resources; `now` is nullptr when it went. `listing`: see kube::Cache::Hooks.
  std::function<void(crds::Kind kind, std::string_view ns, std::string_view name, const StoredResource* now,
                     bool listing)>
      resource = {};
};

/// Thread-safe, but for listen() and subscribe(). Never holds a Secret's values.
class State {
 public:
  /// What the rules ask about is always kept: names, names of keys, a few words of each object. A reconciler also needs
  /// contents: our resources and claims as JSON, fingerprints of Secrets and ConfigMaps.
  enum class Contents : std::uint8_t { no, yes };
  explicit State(Contents contents);

  /// To be called before `watches` start; the state and they may end in any order, what the listener uses last.
  void listen(Listener listener) { *listener_ = std::move(listener); }
  void subscribe(kube::SharedWatches& watches);

  /// What the rules may know: present or absent once the type was listed, otherwise unknown.
  validate::ReferencedObject find(validate::ReferenceKind kind, std::string_view ns, std::string_view name) const;
  /// Appends our resources of the namespace, those that are wanted or all; false when not every kind was listed.
  bool neighbours(std::string_view ns, std::vector<validate::Neighbour>& out,
                  const validate::NeighbourFilter* wanted = nullptr) const;

  // --- With contents ---
  /// nullptr when there is none.
  std::shared_ptr<const StoredResource> resource(crds::Kind kind, std::string_view ns, std::string_view name) const;
  /// each(ns, name, resource), under a lock.
  void for_each_resource(crds::Kind kind, const std::function<void(std::string_view ns, std::string_view name,
                                                                   const StoredResource& resource)>& each) const;
  /// A PersistentVolumeClaim as JSON, a Secret's or ConfigMap's content_hash(); nullptr when there is none.
  Text contents(validate::ReferenceKind kind, std::string_view ns, std::string_view name) const;
  /// What the API server answered to a write of ours; nobody is notified. False when it is known, or something newer.
  bool put_answer(crds::Kind kind, const json::Value& object);

  /// Every type was listed once, apart from those that the server refuses or does not know. Stays true.
  bool synced() const;
  std::size_t objects() const;
  /// Definitions of our own kinds that the API server does not have: "stackguardrails.stackgate.dev".
  std::vector<std::string> missing_definitions() const;

  /// Where the watch of a type files its objects.
  kube::WatchSink& sink(crds::Kind kind) { return *source(kind).cache; }
  kube::WatchSink& sink(validate::ReferenceKind kind) { return *source(kind).cache; }

 private:
  /// An object that resources refer to.
  struct Known {
    std::shared_ptr<const validate::ReferencedObject> fact;
    Text contents;  // of a claim its JSON, of a Secret or ConfigMap its hash; nullptr of others and without contents
  };
  template <class T>
  struct Source {
    std::shared_ptr<kube::Cache<T>> cache;
    kube::Subscription subscription;
  };

  void make(validate::ReferenceKind kind, bool contents);
  void make(crds::Kind kind, bool contents);
  const Source<Known>& source(validate::ReferenceKind kind) const {
    return references_[static_cast<std::size_t>(kind)];
  }
  const Source<Kept>& source(crds::Kind kind) const { return ours_[static_cast<std::size_t>(kind)]; }
  template <class Each>
  void for_each_source(Each&& each) const;

  const std::shared_ptr<Listener> listener_ = std::make_shared<Listener>();
  const std::shared_ptr<FactStore> facts_ = std::make_shared<FactStore>();
  std::array<Source<Known>, 8> references_;  // by ReferenceKind; that of inference_cache, one of ours, is empty
  std::array<Source<Kept>, 8> ours_;         // by crds::Kind
  std::string any_namespace_;                // that is watched; empty for all
  mutable std::atomic<bool> synced_{false};
};

}  // namespace stackgate::cluster
