// What a watch keeps of each object, and nothing else of it.
#pragma once
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pthread.h>

#include "services/kit/kube/object.hpp"
#include "services/kit/kube/text_map.hpp"
#include "services/kit/kube/watch_runner.hpp"

namespace stackgate::kube {

/// A shared mutex under which a stream of readers cannot keep the writer out: once a writer waits, new readers wait
/// too. std::shared_mutex prefers readers with glibc, and the writer here is the one thread that all watches run on.
/// For std::shared_lock and std::unique_lock. A thread that holds it must not lock it again, not even shared.
class WriterFirstMutex {
 public:
  WriterFirstMutex() {
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&lock_, &attributes);
    pthread_rwlockattr_destroy(&attributes);
  }
  ~WriterFirstMutex() { pthread_rwlock_destroy(&lock_); }
  WriterFirstMutex(const WriterFirstMutex&) = delete;
  WriterFirstMutex& operator=(const WriterFirstMutex&) = delete;

  void lock() { pthread_rwlock_wrlock(&lock_); }
  void unlock() { pthread_rwlock_unlock(&lock_); }
  void lock_shared() { pthread_rwlock_rdlock(&lock_); }
  void unlock_shared() { pthread_rwlock_unlock(&lock_); }

 private:
  pthread_rwlock_t lock_;
};

/// Written by one Watch, read from any thread. T is copied out: keep it small.
template <class T>
class Cache final : public WatchSink {
 public:
  using Project = std::function<T(const json::Value& object)>;
  struct Hooks {
    /// Whether what is held stays because `coming` is the same, or older.
    std::function<bool(const T& held, const T& coming)> stays = {};
    /// Called without a lock held, on the watch's thread, after an object was filed, or went: `now` is nullptr then.
    /// `listing`: by a list, which may fold several changes into one.
    std::function<void(std::string_view ns, std::string_view name, const T* now, bool listing)> changed = {};
  };
  explicit Cache(Project project, Hooks hooks = {}) : project_(std::move(project)), hooks_(std::move(hooks)) {}

  std::optional<T> find(std::string_view ns, std::string_view name) const {
    const std::shared_lock lock(mutex_);
    const auto space = spaces_.find(ns);
    if (space == spaces_.end()) return std::nullopt;
    const auto entry = space->second.find(name);
    if (entry == space->second.end()) return std::nullopt;
    return entry->second.kept;
  }

  /// Calls each(ns, name, kept) under the cache's lock: it must not call the cache.
  template <class Each>
  void for_each(Each&& each) const {
    const std::shared_lock lock(mutex_);
    for (const auto& [ns, space] : spaces_)
      for (const auto& [name, entry] : space) each(std::string_view(ns), std::string_view(name), entry.kept);
  }
  /// The same of one namespace: each(name, kept).
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

  /// Files what a write of ours was answered, unless it stays as it is; `changed` is not called. From any thread.
  bool put(const json::Value& object) { return file(object, project_(object)); }

  void relist_began() override {
    const std::unique_lock lock(mutex_);
    ++round_;
    listing_ = true;
  }
  void upsert(const json::Value& object) override {
    T coming = project_(object);
    if (!hooks_.changed) return void(file(object, std::move(coming)));
    if (file(object, T(coming)))
      hooks_.changed(metadata(object, "namespace"), metadata(object, "name"), &coming, listing_);
  }
  void remove(const json::Value& object) override {
    const std::string_view ns = metadata(object, "namespace"), name = metadata(object, "name");
    {
      const std::unique_lock lock(mutex_);
      const auto space = spaces_.find(ns);
      if (space == spaces_.end()) return;
      const auto found = space->second.find(name);
      if (found == space->second.end()) return;
      space->second.erase(found);
      if (space->second.empty()) spaces_.erase(space);
    }
    if (hooks_.changed) hooks_.changed(ns, name, nullptr, listing_);
  }
  void relist_ended() override {
    std::vector<std::pair<std::string, std::string>> gone;
    {
      const std::unique_lock lock(mutex_);
      for (auto space = spaces_.begin(); space != spaces_.end();) {
        std::erase_if(space->second, [&](const auto& entry) {
          const bool is_gone = entry.second.round != round_;
          if (is_gone && hooks_.changed) gone.emplace_back(space->first, entry.first);
          return is_gone;
        });
        space = space->second.empty() ? spaces_.erase(space) : std::next(space);
      }
    }
    for (const auto& [ns, name] : gone) hooks_.changed(ns, name, nullptr, true);
    listing_ = false;
  }

 private:
  struct Entry {
    T kept;
    std::uint32_t round;  // the list in which it was last seen; later events carry the same
  };

  /// False when what is held stays.
  bool file(const json::Value& object, T coming) {
    const std::string_view ns = metadata(object, "namespace"), name = metadata(object, "name");
    const std::unique_lock lock(mutex_);
    auto space = spaces_.find(ns);
    if (space == spaces_.end()) space = spaces_.emplace(ns, TextMap<Entry>{}).first;
    const auto found = space->second.find(name);
    if (found == space->second.end()) {
      space->second.emplace(name, Entry{std::move(coming), round_});
      return true;
    }
    found->second.round = round_;
    if (hooks_.stays && hooks_.stays(found->second.kept, coming)) return false;
    found->second.kept = std::move(coming);
    return true;
  }

  const Project project_;
  const Hooks hooks_;
  mutable WriterFirstMutex mutex_;
  TextMap<TextMap<Entry>> spaces_;
  std::uint32_t round_ = 0;
  bool listing_ = false;  // on the watch's thread only
};

}  // namespace stackgate::kube
