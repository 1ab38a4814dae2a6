// The store's children, pods and inputs.
#include <algorithm>

#include "reconcile/compare/stamp.hpp"
#include "reconcile/observe/content_hash.hpp"
#include "reconcile/observe/slim.hpp"
#include "reconcile/observe/store.hpp"
#include "services/kit/kube/object.hpp"

namespace stackgate::reconcile {
namespace {

bool keeps_status(ChildType type) {
  switch (type) {
    case ChildType::deployment:
    case ChildType::leader_worker_set:
    case ChildType::job:
    case ChildType::persistent_volume_claim:
    case ChildType::inference_service:
      return true;
    default:
      return false;
  }
}

}  // namespace

// --- Children ---

bool Store::keep_child(const Key& key, ChildType type, const json::Value& object, const Answer* answer) {
  const bool foreign = answer != nullptr && answer->foreign;
  const std::string_view applied = answer == nullptr ? std::string_view{} : answer->applied;
  StoredChild fresh{.type = type,
                    .name = std::string(kube::metadata(object, "name")),
                    .uid = std::string(kube::metadata(object, "uid")),
                    .owner_uid = std::string(controller_uid(object)),
                    .managed = is_managed(object),
                    .create_entry = create_entry(object),
                    .stamp = std::string(stamp_of(object)),
                    .applied = std::string(applied),
                    .version = version_of(object),
                    .json = std::make_shared<const std::string>(
                        slim_json(object, {.status = keeps_status(type), .content = type != ChildType::secret}))};
  const std::scoped_lock lock(mutex_);
  if (answer != nullptr) account_for(key, type, fresh.name, fresh.version);
  const auto is_told = [&] { return answer == nullptr && !holds_back(key, type, fresh.name, fresh.version); };
  const std::uint32_t now = round(Shelf::child, static_cast<unsigned>(type));
  Entry& entry = entries_[key];
  auto& children = entry.children;
  std::erase(entry.lost, std::pair(type, fresh.name));
  const auto found = std::ranges::find_if(
      children, [&](const KeptChild& each) { return each.child.type == type && each.child.name == fresh.name; });
  if (found == children.end()) {
    const bool news = is_told();
    children.push_back({std::move(fresh), now, foreign});
    return news;
  }
  StoredChild& held = found->child;
  found->round = now;
  if (held.uid == fresh.uid && held.version == fresh.version && !applied.empty()) held.applied = applied;
  if (held.uid == fresh.uid && (is_stale(held.version, fresh.version) || held.version == fresh.version)) return false;
  const bool news = is_told();
  *found = {std::move(fresh), now, foreign};
  return news;
}

void Store::put_child(ChildType type, const json::Value& object) {
  const std::optional<Key> owner = owner_of(object);
  if (owner && keep_child(*owner, type, object, nullptr)) tell({*owner});
}

void Store::wrote_child(ChildType type, const json::Value& object, const Key& key, std::string_view applied) {
  const Answer answer{.foreign = owner_of(object) != key, .applied = applied};
  keep_child(key, type, object, &answer);
}

void Store::forget_child(const Key& key, ChildType type, std::string_view name, std::string_view uid) {
  const std::scoped_lock lock(mutex_);
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return;
  std::erase_if(entry->second.children, [&](const KeptChild& each) {
    return each.child.type == type && each.child.name == name && (uid.empty() || each.child.uid == uid);
  });
  drop_if_empty(key);
}

void Store::drop_child(ChildType type, const json::Value& object) {
  const std::string_view name = kube::metadata(object, "name"), uid = kube::metadata(object, "uid");
  drop_from_entry(object, [&](Entry& entry) {
    const bool held =
        std::erase_if(entry.children, [&](const KeptChild& each) {
          return each.child.type == type && each.child.name == name && (uid.empty() || each.child.uid == uid);
        }) > 0;
    // What we delete ourselves is forgotten before its event comes.
    if (held && entry.resource) entry.lost.emplace_back(type, name);
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
      if (entry == entries_.end() || !drop(entry->second)) return;
    } else {
      // Only its name is known (a namespace was listed again without it): whoever holds it.
      const std::string_view ns = kube::metadata(object, "namespace");
      const auto holder =
          std::ranges::find_if(entries_, [&](auto& each) { return each.first.ns == ns && drop(each.second); });
      if (holder == entries_.end()) return;
      owner = holder->first;
    }
    drop_if_empty(*owner);
  }
  tell({*owner});
}

// --- Pods ---

void Store::put_pod(const json::Value& object) {
  const auto owner = owner_of(object);
  if (!owner) return;
  PodFacts fresh = pod_facts(object);
  {
    const std::scoped_lock lock(mutex_);
    const std::uint32_t now = round(Shelf::pod, 0);
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
  tell({*owner});
}

void Store::drop_pod(const json::Value& object) {
  const std::string_view name = kube::metadata(object, "name");
  drop_from_entry(object, [&](Entry& entry) {
    return std::erase_if(entry.pods, [&](const KeptPod& each) { return each.facts.name == name; }) > 0;
  });
}

// --- Inputs ---

void Store::put_input(ChildType type, const json::Value& object) {
  const std::string_view ns = kube::metadata(object, "namespace");
  const std::string ref = reference(info(type).resource.plural, ns, kube::metadata(object, "name"));
  std::string hash = content_hash(object);
  News news;
  {
    const std::scoped_lock lock(mutex_);
    const std::uint32_t now = round(Shelf::input, static_cast<unsigned>(type));
    const auto [found, is_new] = inputs_.try_emplace(ref);
    found->second.round = now;
    if (!is_new && found->second.hash == hash) return;
    found->second.hash = std::move(hash);
    add_interested(ref, news);
  }
  tell(news);
}

void Store::drop_input(ChildType type, const json::Value& object) {
  const std::string ref =
      reference(info(type).resource.plural, kube::metadata(object, "namespace"), kube::metadata(object, "name"));
  News news;
  {
    const std::scoped_lock lock(mutex_);
    if (inputs_.erase(ref) == 0) return;
    add_interested(ref, news);
  }
  tell(news);
}

// --- Claims ---

namespace {

std::string claim_reference(const json::Value& object) {
  return reference(info(ChildType::persistent_volume_claim).resource.plural, kube::metadata(object, "namespace"),
                   kube::metadata(object, "name"));
}

}  // namespace

void Store::put_claim(const json::Value& object) {
  const std::string ref = claim_reference(object);
  auto fresh = std::make_shared<const std::string>(slim_json(object, {.status = true}));
  News news;
  {
    const std::scoped_lock lock(mutex_);
    Claim& kept = claims_[ref];
    kept.round = round(Shelf::claim, 0);
    if (kept.json != nullptr && *kept.json == *fresh) return;
    kept.json = std::move(fresh);
    add_interested(ref, news);
  }
  tell(news);
}

void Store::drop_claim(const json::Value& object) {
  const std::string ref = claim_reference(object);
  News news;
  {
    const std::scoped_lock lock(mutex_);
    if (claims_.erase(ref) == 0) return;
    add_interested(ref, news);
  }
  tell(news);
}

}  // namespace stackgate::reconcile
