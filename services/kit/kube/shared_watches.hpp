// One watch per type for everybody in the process: whoever wants its objects subscribes a sink.
//
//   SharedWatches watches(transport, namespaces);
//   auto secrets = watches.subscribe({types::secrets}, cache);
//   auto monitors = watches.subscribe_optional({service_monitors}, "servicemonitors.monitoring.coreos.com", other);
//   watches.start();
//
// An optional type is watched while its CustomResourceDefinition exists. One metadata-only watch on the definitions
// shows that; a type without one is asked for once and costs no request afterwards, unless another API server serves
// it: then it is watched as any other, and asked for again when it is missing. Where the definitions may not be listed,
// absent types are asked for every 30 seconds instead.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/kube/watch_contact.hpp"
#include "services/kit/kube/watch_report.hpp"
#include "services/kit/kube/watch_runner.hpp"

namespace stackgate::kube {

/// What a subscriber may ask about what it subscribed to. Thread-safe, without a lock. Copies share; it may outlive
/// the watches, and then says what was known last.
class Subscription {
 public:
  Subscription() = default;
  /// For a cluster-wide type `ns` means nothing.
  Coverage coverage(std::string_view ns) const;
  /// No namespace is `unlisted`: as much is known as can be.
  bool settled() const;

 private:
  friend class SharedWatches;
  struct State;
  std::shared_ptr<const State> state_;
};

/// All objects of a type; of Secrets, all but Helm's release records, which are large, many and nobody's reference.
/// Whoever wants them all takes this, so that they share one watch and are notified of a change in the order in
/// which they subscribed.
WatchTarget watch_all(const ResourceType& type);

/// subscribe() and on_served_changed() before start(), on one thread; the rest is thread-safe.
class SharedWatches {
 public:
  /// `namespaces`: those to watch, empty for all. `transport` must outlive this.
  SharedWatches(Transport& transport, std::vector<std::string> namespaces, const WatchTuning& tuning = {});
  /// Ends the watches; after it no sink is called any more.
  ~SharedWatches();
  SharedWatches(const SharedWatches&) = delete;
  SharedWatches& operator=(const SharedWatches&) = delete;

  /// `target.ns` may name one namespace; when empty, the namespaces given to the constructor hold. Sinks of the same
  /// target share its watch and are notified in the order of subscription; a metadata-only subscriber shares the watch
  /// of whole objects where there is one. With several namespaces a sink sees them through NamespaceMerge.
  Subscription subscribe(WatchTarget target, std::shared_ptr<WatchSink> sink);
  /// `crd_name` is "<plural>.<group>". While the type is absent, the sink holds nothing: when it vanishes the sink gets
  /// an empty list. A target that anybody subscribed to as optional is optional for all.
  Subscription subscribe_optional(WatchTarget target, const std::string& crd_name, std::shared_ptr<WatchSink> sink);
  /// Called on the transport's thread: true once a type that was absent has been listed, in every namespace that may
  /// be; false when it has vanished and the sinks are empty. Of types that are there from the start too. What `told`
  /// uses must outlive this.
  void on_served_changed(std::function<void(std::string_view crd_name, bool served)> listener);

  void start();

  /// Everything was listed once that is there and may be listed. Stays true: what comes later is reported
  /// by on_served_changed().
  bool synced() const;
  std::vector<WatchReport> report() const;
  /// Whether any of the watches reaches the API server. Logs its loss and its return. Valid as long as this.
  const ContactLog& contact() const;
  const std::vector<std::string>& namespaces() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace stackgate::kube
