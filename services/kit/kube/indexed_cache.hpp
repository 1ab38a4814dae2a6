// A cache that also finds its entries by what they refer to: owner uid, a Secret's name, a node.
//
//   enum { by_owner, by_secret };
//   IndexedCache<Slim> pods(2, [](const json::Value& pod, IndexKeys& keys) {
//     keys.add(by_owner, owner_uid(pod));
//     keys.add(by_secret, in_namespace(metadata(pod, "namespace"), secret));
//     return slim(pod);
//   });
//   pods.for_each_by(by_owner, uid, [](std::string_view ns, std::string_view name, const Slim& kept) { … });
//
// Equal keys are stored once. Beside T an entry with a name of 25 letters and two keys takes about 290 bytes;
// tests/bench/cache_bench.cpp measures it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/kube/object.hpp"
#include "services/kit/kube/text_map.hpp"
#include "services/kit/kube/watch_runner.hpp"
#include "services/kit/kube/writer_first_mutex.hpp"

namespace stackgate::kube {

/// A key of an object that is named within a namespace: neither part can hold a slash.
inline std::string in_namespace(std::string_view ns, std::string_view name) {
  return std::string(ns).append("/").append(name);
}

/// What one object is to be found by. An object may have any number of keys in an index; empty ones are left out.
class IndexKeys {
 public:
  void add(std::size_t index, std::string_view key) {
    if (!key.empty()) keys_.emplace_back(static_cast<std::uint32_t>(index), key);
  }
  void clear() { keys_.clear(); }

 private:
  template <class T>
  friend class IndexedCache;
  std::vector<std::pair<std::uint32_t, std::string>> keys_;
};

/// Written by one Watch, read from any thread.
template <class T>
class IndexedCache final : public WatchSink {
 public:
  using Project = std::function<T(const json::Value& object, IndexKeys& keys)>;
  IndexedCache(std::size_t indexes, Project project) : project_(std::move(project)), indexes_(indexes) {}

  std::optional<T> find(std::string_view ns, std::string_view name) const {
    std::optional<T> out;
    visit(ns, name, [&out](const T& kept) { out = kept; });
    return out;
  }

  /// Calls visit(kept) without a copy, under the cache's lock: it must not call the cache. False when there is no such
  /// object.
  template <class Visit>
  bool visit(std::string_view ns, std::string_view name, Visit&& visit) const {
    const std::shared_lock lock(mutex_);
    const auto space = spaces_.find(ns);
    if (space == spaces_.end()) return false;
    const auto found = space->second.find(name);
    if (found == space->second.end()) return false;
    visit(found->second.kept);
    return true;
  }

  /// Calls each(ns, name, kept) in no particular order, under the cache's lock: it must not call the cache.
  template <class Each>
  void for_each(Each&& each) const {
    const std::shared_lock lock(mutex_);
    for (const auto& [ns, space] : spaces_)
      for (const auto& [name, entry] : space) each(std::string_view(ns), std::string_view(name), entry.kept);
  }
  template <class Each>
  void for_each_by(std::size_t index, std::string_view key, Each&& each) const {
    const std::shared_lock lock(mutex_);
    const auto found = indexes_[index].find(key);
    if (found == indexes_[index].end()) return;
    for (const Item* item : found->second)
      each(std::string_view(*item->second.ns), std::string_view(item->first), item->second.kept);
  }
  std::size_t count_by(std::size_t index, std::string_view key) const {
    const std::shared_lock lock(mutex_);
    const auto found = indexes_[index].find(key);
    return found == indexes_[index].end() ? 0 : found->second.size();
  }

  std::size_t size() const {
    const std::shared_lock lock(mutex_);
    std::size_t out = 0;
    for (const auto& [ns, space] : spaces_) out += space.size();
    return out;
  }

  void relist_began() override { ++round_; }
  void upsert(const json::Value& object) override {
    keys_.clear();
    T kept = project_(object, keys_);
    std::ranges::sort(keys_.keys_);
    keys_.keys_.erase(std::ranges::unique(keys_.keys_).begin(), keys_.keys_.end());
    const std::string_view ns = metadata(object, "namespace"), name = metadata(object, "name");
    const std::unique_lock lock(mutex_);
    auto space = spaces_.find(ns);
    if (space == spaces_.end()) space = spaces_.emplace(ns, TextMap<Entry>{}).first;
    auto found = space->second.find(name);
    if (found == space->second.end()) {
      found = space->second.emplace(name, Entry{std::move(kept), {}, &space->first, round_}).first;
    } else {
      found->second.kept = std::move(kept);
      found->second.round = round_;
    }
    file(*found);
  }
  void remove(const json::Value& object) override {
    const std::unique_lock lock(mutex_);
    const auto space = spaces_.find(metadata(object, "namespace"));
    if (space == spaces_.end()) return;
    if (const auto found = space->second.find(metadata(object, "name")); found != space->second.end()) {
      take_out(*found);
      space->second.erase(found);
    }
    if (space->second.empty()) spaces_.erase(space);
  }
  void relist_ended() override {
    const std::unique_lock lock(mutex_);
    for (auto space = spaces_.begin(); space != spaces_.end();) {
      for (auto item = space->second.begin(); item != space->second.end();) {
        const bool stays = item->second.round == round_;
        if (!stays) take_out(*item);
        item = stays ? std::next(item) : space->second.erase(item);
      }
      space = space->second.empty() ? spaces_.erase(space) : std::next(space);
    }
  }

 private:
  struct Entry;
  using Item = std::pair<const std::string, Entry>;  // the nodes of both maps stay where they are
  using Index = TextMap<std::vector<Item*>>;
  using Place = std::pair<std::uint32_t, typename Index::value_type*>;

  struct Entry {
    T kept;
    std::vector<Place> places;  // sorted as its keys are
    const std::string* ns;
    std::uint32_t round;  // the list in which it was last seen; later events carry the same
  };

  /// Brings the item's places in line with keys_. Most updates change no key: then nothing is touched.
  void file(Item& item) {
    std::vector<Place>& places = item.second.places;
    const auto& keys = keys_.keys_;
    if (std::ranges::equal(places, keys, [](const Place& place, const auto& key) {
          return place.first == key.first && place.second->first == key.second;
        }))
      return;
    take_out(item);
    places.reserve(keys.size());
    for (const auto& [index, key] : keys) {
      const auto at = indexes_[index].try_emplace(key).first;
      at->second.push_back(&item);
      places.emplace_back(index, &*at);
    }
  }
  void take_out(Item& item) {
    for (const auto& [index, place] : item.second.places) {
      auto& items = place->second;
      *std::ranges::find(items, &item) = items.back();
      items.pop_back();
      if (items.empty()) indexes_[index].erase(indexes_[index].find(place->first));
    }
    item.second.places.clear();
  }

  const Project project_;
  mutable WriterFirstMutex mutex_;
  TextMap<TextMap<Entry>> spaces_;
  std::vector<Index> indexes_;
  // On the transport's thread only.
  std::uint32_t round_ = 0;
  IndexKeys keys_;
};

}  // namespace stackgate::kube
