// The cluster's objects of all customizations, as watches and answers to our own writes show them. Thread-safe.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/customizer/runs/cluster/kept.hpp"
#include "services/kit/kube/watch_runner.hpp"

namespace stackgate::customizer {

class ObjectStore {
 public:
  using Objects = std::vector<KeptPtr>;

  /// For the watch of a kind; it must not outlive the store.
  std::shared_ptr<kube::WatchSink> sink(Kind kind);

  /// What a write of ours was answered: older than what is known, it changes nothing.
  void wrote(Kind kind, const json::Value& object);
  /// A deletion of ours was taken: it counts as being deleted before its event comes.
  void deleted(const Kept& kept);

  Objects of(std::string_view group) const;
  /// The groups of which a Job or a claim is there, and not being deleted, whose first owner that is.
  std::vector<std::string> groups_of_owner(std::string_view uid) const;
  /// Groups about which something has changed since the last call.
  std::vector<std::string> take_changed();
  /// Called under a lock, on any thread, when that would not be empty. It must not call the store.
  void on_change(std::function<void()> call);

 private:
  class Sink;
  using Key = std::pair<Kind, std::string>;
  struct Entry {
    KeptPtr kept{};
    std::uint32_t round = 0;  // the list in which it was last seen
  };

  void put(const KeptPtr& kept, std::uint32_t round);
  void drop(Kind kind, const json::Value& object);
  void drop_unseen(Kind kind, std::uint32_t round);
  void note(const std::string& group);

  mutable std::mutex mutex_;
  std::map<std::string, std::map<Key, Entry>, std::less<>> groups_{};
  std::array<std::uint32_t, watched_types.size()> rounds_{};  // lists begun
  std::set<std::string> changed_{};
  std::function<void()> on_change_{};
};

}  // namespace stackgate::customizer
