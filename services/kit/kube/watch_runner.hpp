// Runs a WatchMachine over a Transport: any number of watches on its one thread.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "services/kit/kube/resource.hpp"
#include "services/kit/kube/transport.hpp"
#include "services/kit/kube/watch.hpp"

namespace stackgate::kube {

struct WatchTarget {
  ResourceType type;
  std::string ns = {};  // empty: all, or a cluster-wide type
  std::string label_selector = {}, field_selector = {};
  /// Objects come with apiVersion, kind and metadata only (PartialObjectMetadata).
  /// Source: https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches
  bool metadata_only = false;
};

/// Gets the objects, on the transport's thread: it must not block. Objects are valid during the call only.
class WatchSink {
 public:
  virtual ~WatchSink() = default;
  /// A list begins; what is held stays valid until it has ended. It may begin again before it ends.
  virtual void relist_began() = 0;
  virtual void upsert(const json::Value& object) = 0;
  virtual void remove(const json::Value& object) = 0;
  /// What was not upserted since the last relist_began() no longer exists.
  virtual void relist_ended() = 0;
};

struct WatchHealth {
  bool synced = false;     // everything was listed once; may be old when the server cannot be reached
  bool connected = false;  // a watch is open now
  bool denied = false;     // the server refuses (401, 403), and not for a moment only
  bool missing = false;    // the server does not know the type (404): its CRD is not installed
  std::string last_error;  // of the failure that lasts; empty when there is none
  WatchCounts counts;
  Reach reach = Reach::unknown;
  std::string denial;  // the server's words while `denied`
};

/// One running watch. Ends with this object; after its destructor the sink is not called any more.
class Watch {
 public:
  /// Called on the transport's thread after each step; it may end the watch.
  using Observer = std::function<void(const WatchHealth& health)>;

  /// `transport` must outlive the watch.
  Watch(Transport& transport, WatchTarget target, std::shared_ptr<WatchSink> sink, const WatchTuning& tuning = {},
        Observer observer = {});
  Watch(Watch&&) noexcept = default;
  Watch& operator=(Watch&&) = delete;
  ~Watch();

  /// Thread-safe.
  WatchHealth health() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace stackgate::kube
