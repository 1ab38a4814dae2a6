// What a watch keeps of each object, and nothing else of it.
#pragma once
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string_view>

#include "services/kit/kube/object.hpp"
#include "services/kit/kube/text_map.hpp"
#include "services/kit/kube/watch_runner.hpp"
#include "services/kit/kube/writer_first_mutex.hpp"

namespace stackgate::kube {

/// Written by one Watch, read from any thread. T is copied out: keep it small.
template <class T>
class Cache final : public WatchSink {
 public:
  using Project = std::function<T(const json::Value& object)>;
  explicit Cache(Project project) : project_(std::move(project)) {}

  std::optional<T> find(std::string_view ns, std::string_view name) const {
    const std::shared_lock lock(mutex_);
    const auto space = spaces_.find(ns);
    if (space == spaces_.end()) return std::nullopt;
    const auto entry = space->second.find(name);
    if (entry == space->second.end()) return std::nullopt;
    return entry->second.kept;
  }

  /// Calls each(name, kept) under the cache's lock: it must not call the cache.
  template <class Each>
  void for_each(std::string_view ns, Each&& each) const {
    const std::shared_lock lock(mutex_);
    const auto space = spaces_.find(ns);
    if (space == spaces_.end()) return;
    for (const auto& [name, entry] : space->second) each(std::string_view(name), entry.kept);
  }

  std::size_t size() const {
    const std::shared_lock lock(mutex_);
    std::size_t out = 0;
    for (const auto& [ns, space] : spaces_) out += space.size();
    return out;
  }

  void relist_began() override { ++round_; }
  void upsert(const json::Value& object) override {
    Entry entry{project_(object), round_};
    const std::string_view ns = metadata(object, "namespace"), name = metadata(object, "name");
    const std::unique_lock lock(mutex_);
    auto space = spaces_.find(ns);
    if (space == spaces_.end()) space = spaces_.emplace(ns, TextMap<Entry>{}).first;
    if (const auto found = space->second.find(name); found != space->second.end())
      found->second = std::move(entry);
    else
      space->second.emplace(name, std::move(entry));
  }
  void remove(const json::Value& object) override {
    const std::unique_lock lock(mutex_);
    const auto space = spaces_.find(metadata(object, "namespace"));
    if (space == spaces_.end()) return;
    if (const auto found = space->second.find(metadata(object, "name")); found != space->second.end())
      space->second.erase(found);
    if (space->second.empty()) spaces_.erase(space);
  }
  void relist_ended() override {
    const std::unique_lock lock(mutex_);
    for (auto space = spaces_.begin(); space != spaces_.end();) {
      std::erase_if(space->second, [this](const auto& entry) { return entry.second.round != round_; });
      space = space->second.empty() ? spaces_.erase(space) : std::next(space);
    }
  }

 private:
  struct Entry {
    T kept;
    std::uint32_t round;  // the list in which it was last seen; later events carry the same
  };

  const Project project_;
  mutable WriterFirstMutex mutex_;
  TextMap<TextMap<Entry>> spaces_;
  std::uint32_t round_ = 0;  // on the transport's thread only
};

}  // namespace stackgate::kube
