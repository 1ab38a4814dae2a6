#include "reconcile/observe/store.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reconcile/observe/slim.hpp"
#include "services/kit/kube/object.hpp"

namespace stackgate::reconcile {
namespace {

std::string text_at(const json::Value& object, std::initializer_list<std::string_view> path) {
  const json::Value* found = kube::at(object, path);
  return found == nullptr ? std::string() : std::string(found->string());
}

Key key_of(crds::Kind kind, const json::Value& object) {
  return {kind, std::string(kube::metadata(object, "namespace")), std::string(kube::metadata(object, "name"))};
}

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
  out.lost = entry.lost;
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

Text Store::claim(std::string_view ns, std::string_view name) const {
  const std::scoped_lock lock(mutex_);
  const auto found = claims_.find(reference(info(ChildType::persistent_volume_claim).resource.plural, ns, name));
  return found == claims_.end() ? nullptr : found->second.json;
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

void Store::keep_resource(const Key& key, const json::Value& object, const Answer* answer) {
  StoredResource fresh{.uid = std::string(kube::metadata(object, "uid")),
                       .version = version_of(object),
                       .generation = 0,
                       .state = text_at(object, {"status", "state"}),
                       .json = std::make_shared<const std::string>(slim_json(object, {.status = true}))};
  if (const json::Value* generation = kube::at(object, {"metadata", "generation"}); generation != nullptr)
    fresh.generation = generation->integer();
  News news;
  {
    const std::scoped_lock lock(mutex_);
    if (answer != nullptr) account_for(key, std::nullopt, {}, fresh.version);
    Entry& entry = entries_[key];
    entry.round = round(Shelf::resource, static_cast<unsigned>(key.kind));
    if (entry.resource) {
      const StoredResource& held = *entry.resource;
      if (held.uid == fresh.uid && (is_stale(held.version, fresh.version) || held.version == fresh.version)) return;
      count_state(key.kind, held.state, -1);
    }
    if (answer == nullptr && !holds_back(key, std::nullopt, {}, fresh.version)) news.push_back(key);
    count_state(key.kind, fresh.state, +1);
    entry.resource = std::move(fresh);
    add_interested(reference(crds::info(key.kind).plural, key.ns, key.name), news);  // may wait for its state
  }
  tell(news);
}

void Store::put_resource(crds::Kind kind, const json::Value& object) {
  keep_resource(key_of(kind, object), object, nullptr);
}

void Store::wrote_resource(const Key& key, const json::Value& object) {
  const Answer answer;
  keep_resource(key, object, &answer);
}

void Store::drop_resource_of(const Key& key, Entry& entry, News& news) {
  if (!entry.resource) return;
  count_state(key.kind, entry.resource->state, -1);
  entry.resource.reset();
  replace_references(key, entry, {});
  news.push_back(key);
  add_interested(reference(crds::info(key.kind).plural, key.ns, key.name), news);
}

void Store::drop_resource(crds::Kind kind, const json::Value& object) {
  const Key key = key_of(kind, object);
  News news;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return;
    drop_resource_of(key, found->second, news);
    drop_if_empty(key);
  }
  tell(news);
}

void Store::drop_if_empty(const Key& key) {
  const auto found = entries_.find(key);
  if (found != entries_.end() && found->second.empty()) entries_.erase(found);
}

void Store::tell(const News& news) const {
  for (const Key& key : news) changed_(key);
}

}  // namespace stackgate::reconcile
