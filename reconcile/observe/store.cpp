#include "reconcile/observe/store.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reconcile/observe/content_hash.hpp"
#include "reconcile/observe/slim.hpp"
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

std::string text_at(const json::Value& object, std::initializer_list<std::string_view> path) {
  const json::Value* found = kube::at(object, path);
  return found == nullptr ? std::string() : std::string(found->string());
}

Key key_of(crds::Kind kind, const json::Value& object) {
  return {kind, std::string(kube::metadata(object, "namespace")), std::string(kube::metadata(object, "name"))};
}

/// What was read before is newer than what comes now: an event that was under way while we wrote.
bool is_stale(std::uint64_t held, std::uint64_t coming) { return coming != 0 && coming < held; }

std::string plural_of(crds::Kind kind) { return std::string(crds::info(kind).plural); }

}  // namespace

std::string reference(std::string_view plural, std::string_view ns, std::string_view name) {
  return fmt::format("{}/{}/{}", plural, ns, name);
}

// --- Reading ---

Snapshot Store::snapshot(const Key& key) const {
  Snapshot out;
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return out;
  const Entry& entry = found->second;
  out.resource = entry.resource;
  out.children.reserve(entry.children.size());
  for (const KeptChild& each : entry.children) out.children.push_back(each.child);
  for (const KeptPod& each : entry.pods) out.pods.push_back(each.facts);
  return out;
}

std::optional<StoredResource> Store::resource(const Key& key) const {
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(key);
  return found == entries_.end() ? std::nullopt : found->second.resource;
}

std::vector<Key> Store::resources() const {
  std::vector<Key> out;
  const std::scoped_lock lock(mutex_);
  for (const auto& [key, entry] : entries_)
    if (entry.resource) out.push_back(key);
  return out;
}

std::optional<std::string> Store::input(ChildType type, std::string_view ns, std::string_view name) const {
  const std::scoped_lock lock(mutex_);
  const auto found = inputs_.find(reference(info(type).resource.plural, ns, name));
  return found == inputs_.end() ? std::nullopt : std::optional(found->second.hash);
}

std::map<std::string, std::size_t> Store::states(crds::Kind kind) const {
  const std::scoped_lock lock(mutex_);
  return states_[static_cast<std::size_t>(kind)];
}

Store::Sizes Store::sizes() const {
  const std::scoped_lock lock(mutex_);
  Sizes out;
  for (const auto& [key, entry] : entries_) {
    out.resources += entry.resource ? 1U : 0U;
    out.children += entry.children.size();
    out.pods += entry.pods.size();
  }
  out.inputs = inputs_.size();
  return out;
}

// --- References ---

void Store::set_references(const Key& key, std::vector<std::string> references) {
  std::ranges::sort(references);
  references.erase(std::ranges::unique(references).begin(), references.end());
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(key);
  // A resource that went meanwhile shall not be waited for.
  if (found == entries_.end() || !found->second.resource || found->second.references == references) return;
  replace_references(key, found->second, std::move(references));
}

void Store::replace_references(const Key& key, Entry& entry, std::vector<std::string> references) {
  for (const std::string& ref : entry.references) {
    const auto known = interested_.find(ref);
    if (known == interested_.end()) continue;
    known->second.erase(key);
    if (known->second.empty()) interested_.erase(known);
  }
  for (const std::string& ref : references) interested_[ref].insert(key);
  entry.references = std::move(references);
}

void Store::add_interested(const std::string& ref, News& news) const {
  const auto found = interested_.find(ref);
  if (found == interested_.end()) return;
  news.insert(news.end(), found->second.begin(), found->second.end());
}

void Store::touch(std::string_view plural, const json::Value& object) {
  News news;
  {
    const std::scoped_lock lock(mutex_);
    add_interested(reference(plural, kube::metadata(object, "namespace"), kube::metadata(object, "name")), news);
  }
  tell(news);
}

// --- Resources ---

void Store::count_state(crds::Kind kind, const std::string& state, int by) {
  std::size_t& count = states_[static_cast<std::size_t>(kind)][state];
  count = by > 0 ? count + 1 : count - 1;
}

bool Store::keep_resource(const Key& key, const json::Value& object) {
  StoredResource fresh{.uid = std::string(kube::metadata(object, "uid")),
                       .version = version_of(object),
                       .generation = 0,
                       .state = text_at(object, {"status", "state"}),
                       .json = std::make_shared<const std::string>(slim_json(object, {.status = true}))};
  if (const json::Value* generation = kube::at(object, {"metadata", "generation"}); generation != nullptr)
    fresh.generation = generation->integer();
  const std::scoped_lock lock(mutex_);
  Entry& entry = entries_[key];
  entry.round = round(Shelf::resource, static_cast<unsigned>(key.kind));
  if (entry.resource) {
    const StoredResource& held = *entry.resource;
    if (held.uid == fresh.uid && (is_stale(held.version, fresh.version) || held.version == fresh.version)) return false;
    count_state(key.kind, held.state, -1);
  }
  count_state(key.kind, fresh.state, +1);
  entry.resource = std::move(fresh);
  return true;
}

void Store::put_resource(crds::Kind kind, const json::Value& object) {
  const Key key = key_of(kind, object);
  if (!keep_resource(key, object)) return;
  News news{key};
  {
    const std::scoped_lock lock(mutex_);
    add_interested(reference(plural_of(kind), key.ns, key.name), news);
  }
  tell(news);
}

void Store::wrote_resource(const Key& key, const json::Value& object) {
  if (!keep_resource(key, object)) return;
  News news;  // others may wait for its state
  {
    const std::scoped_lock lock(mutex_);
    add_interested(reference(plural_of(key.kind), key.ns, key.name), news);
  }
  tell(news);
}

void Store::drop_resource_of(const Key& key, Entry& entry, News& news) {
  count_state(key.kind, entry.resource->state, -1);
  entry.resource.reset();
  replace_references(key, entry, {});
  news.push_back(key);
  add_interested(reference(plural_of(key.kind), key.ns, key.name), news);
}

void Store::drop_resource(crds::Kind kind, const json::Value& object) {
  const Key key = key_of(kind, object);
  News news;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end() || !found->second.resource) return;
    drop_resource_of(key, found->second, news);
    drop_if_empty(key);
  }
  tell(news);
}

// --- Children ---

bool Store::keep_child(const Key& key, ChildType type, const json::Value& object, bool foreign,
                       std::string_view applied) {
  StoredChild fresh{.type = type,
                    .name = std::string(kube::metadata(object, "name")),
                    .uid = std::string(kube::metadata(object, "uid")),
                    .owner_uid = std::string(controller_uid(object)),
                    .managed = is_managed(object),
                    .create_entry = create_entry(object),
                    .applied = std::string(applied),
                    .version = version_of(object),
                    .json = std::make_shared<const std::string>(
                        slim_json(object, {.status = keeps_status(type), .content = type != ChildType::secret}))};
  const std::scoped_lock lock(mutex_);
  const std::uint32_t now = round(Shelf::child, static_cast<unsigned>(type));
  auto& children = entries_[key].children;
  const auto found = std::ranges::find_if(
      children, [&](const KeptChild& each) { return each.child.type == type && each.child.name == fresh.name; });
  if (found == children.end()) {
    children.push_back({std::move(fresh), now, foreign});
    return true;
  }
  StoredChild& held = found->child;
  found->round = now;
  if (held.uid == fresh.uid && held.version == fresh.version && !applied.empty()) held.applied = applied;
  if (held.uid == fresh.uid && (is_stale(held.version, fresh.version) || held.version == fresh.version)) return false;
  *found = {std::move(fresh), now, foreign};
  return true;
}

void Store::put_child(ChildType type, const json::Value& object) {
  const std::optional<Key> owner = owner_of(object);
  if (owner && keep_child(*owner, type, object, false)) tell({*owner});
}

void Store::wrote_child(ChildType type, const json::Value& object, const Key& key, std::string_view applied) {
  keep_child(key, type, object, owner_of(object) != key, applied);
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
    return std::erase_if(entry.children, [&](const KeptChild& each) {
             return each.child.type == type && each.child.name == name && (uid.empty() || each.child.uid == uid);
           }) > 0;
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

// --- Rounds ---

std::uint32_t& Store::round(Shelf shelf, unsigned type) { return rounds_[static_cast<std::size_t>(shelf)][type]; }

void Store::begin_round(Shelf shelf, unsigned type) {
  const std::scoped_lock lock(mutex_);
  ++round(shelf, type);
}

void Store::end_round(Shelf shelf, unsigned type) {
  News news;
  {
    const std::scoped_lock lock(mutex_);
    const std::uint32_t now = round(shelf, type);
    if (shelf == Shelf::input) {
      const std::string prefix = fmt::format("{}/", info(static_cast<ChildType>(type)).resource.plural);
      std::erase_if(inputs_, [&](const auto& each) {
        if (each.second.round == now || !each.first.starts_with(prefix)) return false;
        add_interested(each.first, news);
        return true;
      });
    } else if (shelf != Shelf::reference) {
      for (auto entry = entries_.begin(); entry != entries_.end();)
        entry = end_round_of(*entry, shelf, type, now, news) ? entries_.erase(entry) : std::next(entry);
    }
  }
  tell(news);
}

bool Store::end_round_of(std::pair<const Key, Entry>& each, Shelf shelf, unsigned type, std::uint32_t now, News& news) {
  auto& [key, entry] = each;
  if (shelf == Shelf::resource) {
    if (static_cast<unsigned>(key.kind) != type || !entry.resource || entry.round == now) return false;
    drop_resource_of(key, entry, news);
    return entry.empty();
  }
  const auto gone = shelf == Shelf::child
                        ? std::erase_if(entry.children,
                                        [&](const KeptChild& kept) {
                                          return kept.child.type == static_cast<ChildType>(type) && !kept.foreign &&
                                                 kept.round != now;
                                        })
                        : std::erase_if(entry.pods, [&](const KeptPod& kept) { return kept.round != now; });
  if (gone == 0) return false;
  news.push_back(key);
  return entry.empty();
}

void Store::drop_if_empty(const Key& key) {
  const auto found = entries_.find(key);
  if (found != entries_.end() && found->second.empty()) entries_.erase(found);
}

void Store::tell(const News& news) const {
  for (const Key& key : news) changed_(key);
}

}  // namespace stackgate::reconcile
