// Which rights a process lacks to watch what it should know, what follows from that, and how that is reported
// to an administrator.
//
// A gate without them still answers: everything else is judged as ever, references are asked about one by one, and what
// may not be read at all is a warning ("could not be checked"). So it stays ready: a gate that is not ready would stop
// every write of our kinds. What is missing is reported in three places instead: GET /readyz?verbose, the gauge
// stackgate_gate_watch_denied, and a log line and then one every hour for as long as it lasts. A refusal counts when it
// outlasts kube::WatchTuning::denied_grace.
#pragma once
#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/kube/shared_watches.hpp"
#include "services/kit/metrics/registry.hpp"
#include "services/kit/run/periodic.hpp"

namespace stackgate::cluster {

struct MissingRight {
  std::string verb;      // "list", "watch"
  std::string resource;  // "secrets", "inferencecaches.stackgate.dev"
  std::string ns;        // empty: all namespaces, or a cluster-wide type
  bool cluster_wide = false;
  std::string error;  // the API server's own words

  bool is_same(const MissingRight& other) const {
    return verb == other.verb && resource == other.resource && ns == other.ns;
  }
};

/// In the order of the reports.
std::vector<MissingRight> missing_rights(std::span<const kube::WatchReport> reports);

/// "list secrets in all namespaces"
std::string to_string(const MissingRight& right);
/// Who in this process watches.
struct Watchers {
  bool gate = false, reconciler = false;
};
/// What follows from not seeing objects of that type, for those who watch it: a sentence without its full stop.
std::string consequence(std::string_view resource, Watchers watchers);
/// What the administrator can run, as the gate or with --as: "kubectl auth can-i list secrets --all-namespaces".
std::string can_i(const MissingRight& right);

/// Which of them are to be logged now. Pure; not thread-safe.
class RightsReminder {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::hours again{1};

  struct Changes {
    std::vector<MissingRight> missing;   // new, or not logged for an hour
    std::vector<MissingRight> regained;  // missing before
  };
  Changes update(std::vector<MissingRight> missing, Clock::time_point now);

 private:
  struct Known {
    MissingRight right;
    Clock::time_point logged;
  };
  std::vector<Known> known_;
};

/// Looks at the watches every few seconds, on a thread of its own. `watches` and `registry` must outlive it; the rest
/// is thread-safe.
class WatchRights {
 public:
  WatchRights(const kube::SharedWatches& watches, metrics::Registry& registry, Watchers watchers);

  /// For /readyz: the missing rights, empty when there is none.
  std::string problem() const;

 private:
  void log_changes();

  const kube::SharedWatches& watches_;
  const Watchers watchers_;
  metrics::Family<metrics::Gauge>& denied_;
  RightsReminder reminder_;
  run::Periodic rounds_;  // last: it uses the rest
};

}  // namespace stackgate::cluster
