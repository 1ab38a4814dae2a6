// One stream of objects for several sinks, and several namespaces' streams as one.
// Pure; used on one thread at a time.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "services/kit/kube/watch_runner.hpp"

namespace stackgate::kube {

/// Passes everything on to every sink, in the order in which they were added.
class FanOut final : public WatchSink {
 public:
  void add(std::shared_ptr<WatchSink> sink) { sinks_.push_back(std::move(sink)); }
  bool empty() const { return sinks_.empty(); }
  /// Everything is gone: an empty list.
  void clear();

  void relist_began() override;
  void upsert(const json::Value& object) override;
  void remove(const json::Value& object) override;
  void relist_ended() override;

 private:
  std::vector<std::shared_ptr<WatchSink>> sinks_;
};

/// A type that is watched namespace by namespace, as if it were one watch. The first lists of all namespaces are one
/// list for the sink. When a namespace is listed again later, the sink gets single objects: whatever is no longer
/// there is removed with its name and namespace as all that is known of it. Remembers the names for that.
class NamespaceMerge {
 public:
  /// `sink` must outlive this and its parts.
  NamespaceMerge(WatchSink& sink, const std::vector<std::string>& namespaces);
  ~NamespaceMerge();
  NamespaceMerge(const NamespaceMerge&) = delete;
  NamespaceMerge& operator=(const NamespaceMerge&) = delete;

  /// By index of `namespaces`.
  std::shared_ptr<WatchSink> part(std::size_t index) const;
  /// As if nothing had been listed. The sink is not notified.
  void reset();

 private:
  class Part;
  struct Shared;
  std::shared_ptr<Shared> shared_;
  std::vector<std::shared_ptr<Part>> parts_;
};

}  // namespace stackgate::kube
