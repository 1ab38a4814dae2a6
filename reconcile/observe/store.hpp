// What belongs to each resource: its children, its pods, and which objects it names. With the resource itself, which
// lies in cluster::State with everything that resources name, this is all that a reconcile needs. Filled by
// watches and, at once, by what the API server answers to our own writes; an older event never overwrites a newer
// write.
//
// Thread-safe. Strings of JSON are shared, never copied.
#pragma once
#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cluster_state/state.hpp"
#include "reconcile/child_types.hpp"
#include "reconcile/observe/key.hpp"
#include "reconcile/status/status.hpp"

namespace stackgate::reconcile {

using cluster::Text;

/// What the store files; each collection counts the rounds of its relists by type.
enum class Collection : std::uint8_t { child, pod };

struct StoredChild {
  ChildType type;
  std::string name;
  std::string uid;
  std::string owner_uid;  // of its controller, or empty
  bool managed = false;   // has the operator's labels
  int create_entry = -1;  // see cluster_state/pruning.hpp
  std::string plan_hash;  // the plan that it was made from, see compare/plan_hash.hpp
  std::string applied;    // hash of the plan whose apply left it in this very version; empty after any other change
  std::uint64_t version = 0;
  Text json;
};

/// Of one resource, at one moment.
struct Snapshot {
  std::shared_ptr<const cluster::StoredResource> resource;
  std::vector<StoredChild> children;
  std::vector<PodFacts> pods;
  std::vector<std::pair<ChildType, std::string>> lost;  // children that somebody else deleted, by type and name
};

/// An object that a resource names: "secrets/ml/registry-api".
std::string reference(std::string_view plural, std::string_view ns, std::string_view name);

class Store {
 public:
  /// `changed` is called, on the thread that brought the news and without a lock held, for each resource that may have
  /// to be looked at. `state` has contents; the store listens to it, and it must outlive the store.
  Store(cluster::State& state, std::function<void(const Key&)> changed);
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  Snapshot snapshot(const Key& key) const;
  std::vector<Key> resources() const;
  const cluster::State& state() const { return state_; }
  /// How many resources of the kind are in each state; an empty word stands for those without a status.
  std::map<std::string, std::size_t> states(crds::Kind kind) const;
  struct Sizes {
    std::size_t resources = 0, children = 0, pods = 0;
  };
  Sizes sizes() const;

  /// What the resource's last reconcile asked about: a change of any of them is news for it.
  void set_references(const Key& key, std::vector<std::string> references);

  // --- What watches report and our own writes return. `object` is read during the call only. ---
  void put_child(ChildType type, const json::Value& object);
  /// In all the drops, an object of which only name and namespace are known will do.
  void drop_child(ChildType type, const json::Value& object);
  void put_pod(const json::Value& object);
  void drop_pod(const json::Value& object);

  // --- What the API server answered to us about a child of `key`; nobody is notified. The object may be foreign: it
  // has a child's name without being one, and no watch reports it. ---
  void wrote_child(ChildType type, const json::Value& object, const Key& key, std::string_view applied = {});
  void wrote_resource(const Key& key, const json::Value& object);
  /// An empty uid stands for any.
  void forget_child(const Key& key, ChildType type, std::string_view name, std::string_view uid);
  /// A pass has settled what was in Snapshot::lost: what it did not make again is not wanted any more.
  void forget_lost(const Key& key, const std::vector<std::pair<ChildType, std::string>>& lost);

  /// A write of ours to one object is under way: from before it is sent until the answer was filed. Its event often
  /// comes before its answer and would bring the resource back into the queue for what it has just done itself. While
  /// this lives, what watches report of the object is filed without notification; what the answer did not account for
  /// is notified at the end. A relist is always notified: it may fold another's change into what our answer shows. Used
  /// by one thread; the store must outlive it.
  class OwnWrite {
   public:
    OwnWrite(Store& store, const Key& key) : OwnWrite(store, key, std::nullopt, {}) {}  // to the resource itself
    OwnWrite(Store& store, const Key& key, std::optional<ChildType> child, std::string_view name);
    ~OwnWrite();
    OwnWrite(const OwnWrite&) = delete;
    OwnWrite& operator=(const OwnWrite&) = delete;

   private:
    friend class Store;
    Store& store_;
    const Key key_;
    const std::optional<ChildType> child_;
    const std::string name_;
    std::vector<std::uint64_t> unreported_;  // versions that nobody was notified of
    std::vector<std::uint64_t> answered_;
  };

  // --- Relists: what was not put between begin and end is dropped. ---
  void begin_relist(Collection collection, unsigned type);
  void end_relist(Collection collection, unsigned type);

 private:
  struct KeptChild {
    StoredChild child;
    std::uint32_t round = 0;
    bool foreign = false;  // no watch reports it
  };
  struct KeptPod {
    PodFacts facts;
    std::uint32_t round = 0;
  };
  struct Entry {
    std::vector<KeptChild> children;
    std::vector<KeptPod> pods;
    std::vector<std::string> references;
    std::vector<std::pair<ChildType, std::string>> lost;  // until it is there again, or not wanted
    /// An empty uid stands for any. False when there was none.
    bool drop_child(ChildType type, std::string_view name, std::string_view uid);
    bool empty() const { return children.empty() && pods.empty() && references.empty() && lost.empty(); }
  };
  using News = std::vector<Key>;

  std::uint32_t& round(Collection collection, unsigned type);
  void notify(const News& news) const;
  void add_interested(const std::string& ref, News& news) const;
  void drop_if_empty(const Key& key);
  /// What the API server answered to us.
  struct Answer {
    bool foreign = false;
    std::string_view applied;
  };
  /// True when somebody has to be notified of it; never of an answer.
  bool keep_child(const Key& key, ChildType type, const json::Value& object, const Answer* answer);
  void resource_changed(const Key& key, const cluster::StoredResource* now, bool listing);
  OwnWrite* own_write(const Key& key, std::optional<ChildType> child, std::string_view name);
  bool holds_back(const Key& key, std::optional<ChildType> child, std::string_view name, std::uint64_t version,
                  bool listing);
  void account_for(const Key& key, std::optional<ChildType> child, std::string_view name, std::uint64_t version);
  template <class Drop>
  void drop_from_entry(const json::Value& object, Drop&& drop);
  /// True when nothing is left of the entry.
  bool end_relist_of(std::pair<const Key, Entry>& each, Collection collection, unsigned type, std::uint32_t now,
                     News& news);
  void replace_references(const Key& key, Entry& entry, std::vector<std::string> references);

  cluster::State& state_;
  const std::function<void(const Key&)> changed_;
  mutable std::mutex mutex_;
  std::unordered_map<Key, Entry, KeyHash> entries_;
  std::unordered_map<std::string, std::unordered_set<Key, KeyHash>> interested_;
  std::vector<OwnWrite*> own_writes_;                      // one per worker at most
  std::array<std::array<std::uint32_t, 16>, 2> rounds_{};  // by collection and type
  std::array<std::bitset<16>, 2> listing_;                 // likewise: between begin_relist and end_relist
};

}  // namespace stackgate::reconcile
