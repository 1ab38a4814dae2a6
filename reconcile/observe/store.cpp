#include "reconcile/observe/store.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cluster_state/pruning.hpp"
#include "services/kit/kube/object.hpp"

namespace stackgate::reconcile {
std::string reference(std::string_view plural, std::string_view ns, std::string_view name) {
  return fmt::format("{}/{}/{}", plural, ns, name);
}

Store::Store(cluster::State& state, std::function<void(const Key&)> changed)
    : state_(state), changed_(std::move(changed)) {
  state.listen(
      {.referenced =
           [this](validate::ReferenceKind kind, std::string_view ns, std::string_view name) {
             News news;
             {
               const std::scoped_lock lock(mutex_);
               add_interested(reference(cluster::resource_type(kind).plural, ns, name), news);
             }
             notify(news);
           },
       .resource = [this](
                       crds::Kind kind, std::string_view ns, std::string_view name, const cluster::StoredResource* now,
                       bool listing) { resource_changed({kind, std::string(ns), std::string(name)}, now, listing); }});
}

// --- Reading ---

Snapshot Store::snapshot(const Key& key) const {
  Snapshot out;
  out.resource = state_.resource(key.kind, key.ns, key.name);
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return out;
  const Entry& entry = found->second;
  out.children.reserve(entry.children.size());
  for (const KeptChild& each : entry.children) out.children.push_back(each.child);
  for (const KeptPod& each : entry.pods) out.pods.push_back(each.facts);
  out.lost = entry.lost;
  return out;
}

std::vector<Key> Store::resources() const {
  std::vector<Key> out;
  for (const crds::KindInfo& each : crds::kinds)
    state_.for_each_resource(each.kind, [&](std::string_view ns, std::string_view name, const auto&) {
      out.push_back({each.kind, std::string(ns), std::string(name)});
    });
  return out;
}

std::map<std::string, std::size_t> Store::states(crds::Kind kind) const {
  std::map<std::string, std::size_t> out;
  state_.for_each_resource(kind, [&](std::string_view, std::string_view, const cluster::StoredResource& resource) {
    ++out[resource.state];
  });
  return out;
}

Store::Sizes Store::sizes() const {
  Sizes out;
  for (const crds::KindInfo& each : crds::kinds)
    state_.for_each_resource(each.kind, [&out](auto, auto, const auto&) { ++out.resources; });
  const std::scoped_lock lock(mutex_);
  for (const auto& [key, entry] : entries_) {
    out.children += entry.children.size();
    out.pods += entry.pods.size();
  }
  return out;
}

// --- References ---

void Store::set_references(const Key& key, std::vector<std::string> references) {
  std::ranges::sort(references);
  references.erase(std::ranges::unique(references).begin(), references.end());
  const std::scoped_lock lock(mutex_);
  // A resource that went meanwhile shall not be waited for.
  if (state_.resource(key.kind, key.ns, key.name) == nullptr) return;
  if (Entry& entry = entries_[key]; entry.references != references)
    replace_references(key, entry, std::move(references));
  drop_if_empty(key);
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

// --- Resources ---

void Store::resource_changed(const Key& key, const cluster::StoredResource* now, bool listing) {
  News news;
  {
    const std::scoped_lock lock(mutex_);
    if (now == nullptr || !holds_back(key, std::nullopt, {}, now->version, listing)) news.push_back(key);
    if (const auto entry = entries_.find(key); now == nullptr && entry != entries_.end()) {
      replace_references(key, entry->second, {});
      entry->second.lost.clear();
      drop_if_empty(key);
    }
    add_interested(reference(crds::info(key.kind).plural, key.ns, key.name), news);  // may wait for its state
  }
  notify(news);
}

void Store::wrote_resource(const Key& key, const json::Value& object) {
  News news;
  {
    const std::scoped_lock lock(mutex_);
    account_for(key, std::nullopt, {}, cluster::version_of(object));
    if (state_.put_answer(key.kind, object))
      add_interested(reference(crds::info(key.kind).plural, key.ns, key.name), news);
  }
  notify(news);
}

void Store::drop_if_empty(const Key& key) {
  const auto found = entries_.find(key);
  if (found != entries_.end() && found->second.empty()) entries_.erase(found);
}

void Store::notify(const News& news) const {
  for (const Key& key : news) changed_(key);
}

// --- While a write of ours is under way: which news is its echo ---

Store::OwnWrite::OwnWrite(Store& store, const Key& key, std::optional<ChildType> child, std::string_view name)
    : store_(store), key_(key), child_(child), name_(name) {
  const std::scoped_lock lock(store_.mutex_);
  store_.own_writes_.push_back(this);
}

Store::OwnWrite::~OwnWrite() {
  {
    const std::scoped_lock lock(store_.mutex_);
    std::erase(store_.own_writes_, this);
  }
  if (!unreported_.empty()) store_.notify({key_});
}

Store::OwnWrite* Store::own_write(const Key& key, std::optional<ChildType> child, std::string_view name) {
  const auto found = std::ranges::find_if(own_writes_, [&](const OwnWrite* each) {
    return each->child_ == child && each->name_ == name && each->key_ == key;
  });
  return found == own_writes_.end() ? nullptr : *found;
}

bool Store::holds_back(const Key& key, std::optional<ChildType> child, std::string_view name, std::uint64_t version,
                       bool listing) {
  OwnWrite* const writing = own_write(key, child, name);
  if (listing || writing == nullptr || version == 0) return false;  // without a version no answer accounts for it
  // What was filed before the answer may be reported after it.
  if (std::ranges::find(writing->answered_, version) == writing->answered_.end())
    writing->unreported_.push_back(version);
  return true;
}

void Store::account_for(const Key& key, std::optional<ChildType> child, std::string_view name, std::uint64_t version) {
  OwnWrite* const writing = own_write(key, child, name);
  if (writing == nullptr) return;
  std::erase(writing->unreported_, version);
  writing->answered_.push_back(version);
}

// --- Relists ---

std::uint32_t& Store::round(Collection collection, unsigned type) {
  return rounds_[static_cast<std::size_t>(collection)][type];
}

void Store::begin_relist(Collection collection, unsigned type) {
  const std::scoped_lock lock(mutex_);
  ++round(collection, type);
  listing_[static_cast<std::size_t>(collection)].set(type);
}

void Store::end_relist(Collection collection, unsigned type) {
  News news;
  {
    const std::scoped_lock lock(mutex_);
    const std::uint32_t now = round(collection, type);
    listing_[static_cast<std::size_t>(collection)].reset(type);
    for (auto entry = entries_.begin(); entry != entries_.end();)
      entry = end_relist_of(*entry, collection, type, now, news) ? entries_.erase(entry) : std::next(entry);
  }
  notify(news);
}

bool Store::end_relist_of(std::pair<const Key, Entry>& each, Collection collection, unsigned type, std::uint32_t now,
                          News& news) {
  auto& [key, entry] = each;
  const auto gone = collection == Collection::child
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

}  // namespace stackgate::reconcile
