// The store's children and pods.
#include <algorithm>

#include "cluster_state/pruning.hpp"
#include "reconcile/compare/plan_hash.hpp"
#include "reconcile/observe/store.hpp"
#include "services/kit/kube/object.hpp"

namespace stackgate::reconcile {
// --- Children ---

bool Store::keep_child(const Key& key, ChildType type, const json::Value& object, const Answer* answer) {
  const bool foreign = answer != nullptr && answer->foreign;
  const std::string_view applied = answer == nullptr ? std::string_view{} : answer->applied;
  StoredChild fresh{.type = type,
                    .name = std::string(kube::metadata(object, "name")),
                    .uid = std::string(kube::metadata(object, "uid")),
                    .owner_uid = std::string(controller_uid(object)),
                    .managed = is_managed(object),
                    .create_entry = cluster::create_entry(object),
                    .plan_hash = std::string(plan_hash_of(object)),
                    .applied = std::string(applied),
                    .version = cluster::version_of(object),
                    .json = std::make_shared<const std::string>(cluster::pruned_json(
                        object, {.status = info(type).watched.status, .content = type != ChildType::secret}))};
  const std::scoped_lock lock(mutex_);
  const bool listing = listing_[static_cast<std::size_t>(Collection::child)].test(static_cast<std::size_t>(type));
  if (answer != nullptr) account_for(key, type, fresh.name, fresh.version);
  const auto is_reported = [&] {
    return answer == nullptr && !holds_back(key, type, fresh.name, fresh.version, listing);
  };
  const std::uint32_t now = round(Collection::child, static_cast<unsigned>(type));
  Entry& entry = entries_[key];
  auto& children = entry.children;
  std::erase(entry.lost, std::pair(type, fresh.name));
  const auto found = std::ranges::find_if(
      children, [&](const KeptChild& each) { return each.child.type == type && each.child.name == fresh.name; });
  if (found == children.end()) {
    const bool news = is_reported();
    children.push_back({std::move(fresh), now, foreign});
    return news;
  }
  StoredChild& held = found->child;
  found->round = now;
  if (held.uid == fresh.uid && held.version == fresh.version && !applied.empty()) held.applied = applied;
  if (held.uid == fresh.uid && (cluster::is_stale(held.version, fresh.version) || held.version == fresh.version))
    return false;
  const bool news = is_reported();
  *found = {std::move(fresh), now, foreign};
  return news;
}

bool Store::Entry::drop_child(ChildType type, std::string_view name, std::string_view uid) {
  return std::erase_if(children, [&](const KeptChild& each) {
           return each.child.type == type && each.child.name == name && (uid.empty() || each.child.uid == uid);
         }) > 0;
}

void Store::put_child(ChildType type, const json::Value& object) {
  const std::optional<Key> owner = owner_of(object);
  if (owner && keep_child(*owner, type, object, nullptr)) notify({*owner});
}

void Store::wrote_child(ChildType type, const json::Value& object, const Key& key, std::string_view applied) {
  const Answer answer{.foreign = owner_of(object) != key, .applied = applied};
  keep_child(key, type, object, &answer);
}

void Store::forget_child(const Key& key, ChildType type, std::string_view name, std::string_view uid) {
  const std::scoped_lock lock(mutex_);
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return;
  entry->second.drop_child(type, name, uid);
  drop_if_empty(key);
}

void Store::forget_lost(const Key& key, const std::vector<std::pair<ChildType, std::string>>& lost) {
  if (lost.empty()) return;
  const std::scoped_lock lock(mutex_);
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return;
  std::erase_if(entry->second.lost, [&](const auto& each) { return std::ranges::find(lost, each) != lost.end(); });
  drop_if_empty(key);
}

void Store::drop_child(ChildType type, const json::Value& object) {
  const std::string_view name = kube::metadata(object, "name"), uid = kube::metadata(object, "uid");
  drop_from_entry(object, [&](const Key& key, Entry& entry) {
    const bool held = entry.drop_child(type, name, uid);
    // What we delete ourselves is forgotten before its event comes; where a finalizer brings it back until it has gone,
    // the pass that follows does not want it and forgets this.
    if (held && state_.resource(key.kind, key.ns, key.name) != nullptr) entry.lost.emplace_back(type, name);
    return held;
  });
}

template <class Drop>
void Store::drop_from_entry(const json::Value& object, Drop&& drop) {
  std::optional<Key> owner = owner_of(object);
  {
    const std::scoped_lock lock(mutex_);
    if (owner) {
      const auto entry = entries_.find(*owner);
      if (entry == entries_.end() || !drop(*owner, entry->second)) return;
    } else {
      // Only its name is known (a namespace was listed again without it): whoever holds it.
      const std::string_view ns = kube::metadata(object, "namespace");
      const auto holder = std::ranges::find_if(
          entries_, [&](auto& each) { return each.first.ns == ns && drop(each.first, each.second); });
      if (holder == entries_.end()) return;
      owner = holder->first;
    }
    drop_if_empty(*owner);
  }
  notify({*owner});
}

// --- Pods ---

void Store::put_pod(const json::Value& object) {
  const auto owner = owner_of(object);
  if (!owner) return;
  PodFacts fresh = pod_facts(object);
  {
    const std::scoped_lock lock(mutex_);
    const std::uint32_t now = round(Collection::pod, 0);
    auto& pods = entries_[*owner].pods;
    const auto found = std::ranges::find_if(pods, [&](const KeptPod& each) { return each.facts.name == fresh.name; });
    if (found == pods.end()) {
      pods.push_back({std::move(fresh), now});
    } else {
      found->round = now;
      if (found->facts == fresh) return;
      found->facts = std::move(fresh);
    }
  }
  notify({*owner});
}

void Store::drop_pod(const json::Value& object) {
  const std::string_view name = kube::metadata(object, "name");
  drop_from_entry(object, [&](const Key&, Entry& entry) {
    return std::erase_if(entry.pods, [&](const KeptPod& each) { return each.facts.name == name; }) > 0;
  });
}

}  // namespace stackgate::reconcile
