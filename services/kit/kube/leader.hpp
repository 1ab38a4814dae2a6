// Takes part in a leader election and keeps the lease, on a thread of its own. See leader_core.hpp for the rules.
#pragma once
#include <atomic>
#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "services/kit/base/error.hpp"
#include "services/kit/kube/client.hpp"
#include "services/kit/kube/leader_core.hpp"

namespace stackgate::kube {

struct LeaderOptions {
  std::string ns, name;  // of the Lease; the namespace must exist
  std::string identity;  // make_identity()
  LeaderTuning tuning = {};
};

/// Called on the elector's thread, one at a time: they must return soon (within a second), since the lease is renewed
/// on the same thread.
struct LeaderCallbacks {
  std::function<void()> started = {};                        // we lead from now on
  std::function<void(const std::string& why)> stopped = {};  // we do not lead any more; not called by release()
  std::function<void(const std::string& holder)> new_leader = {};
};

struct LeaderNumbers {
  bool leading = false;
  std::string holder;  // as far as we know; empty: nobody
  LeaderCounts counts;
  std::string last_error;  // of the failure that lasts; empty when there is none
};

/// After a loss it goes on competing; whoever cannot stop its work at once should end the process instead.
/// Rights needed on leases: get, create, patch; list and watch for a quick take-over.
class LeaderElector {
 public:
  /// Fails on unusable options only. `client` must outlive it; the client's rate limit does not hold for leases.
  static std::expected<std::unique_ptr<LeaderElector>, Error> start(Client& client, LeaderOptions options,
                                                                    LeaderCallbacks callbacks = {});
  /// release()
  ~LeaderElector();

  /// From any thread, without a lock. False as soon as the renew deadline has passed, also when the elector's thread
  /// could not run (a stopped process, for example): ask it before each write that only a leader may make.
  bool is_leader() const;

  /// Ends the competition and hands a lease that is held to the next: call it when the leader's work has ended, since
  /// another may begin within milliseconds. Blocks until the API server has answered, at most `limit`; if it could not
  /// be reached, the others wait for the lease to run out. is_leader() is false from the beginning, and no callback
  /// comes after the end. Once; later calls do nothing.
  void release(std::chrono::milliseconds limit = std::chrono::milliseconds(3'000));

  LeaderNumbers numbers() const;

 private:
  struct Impl;
  explicit LeaderElector(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

/// "<pod name>_<16 random hex digits>": $POD_NAME, or else the host's name.
std::string make_identity();

}  // namespace stackgate::kube
