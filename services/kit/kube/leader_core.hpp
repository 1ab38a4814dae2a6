// Leader election over a Lease as a state machine without I/O: it gets what was read and written, and returns what
// to do next.
//
//   ┌→ read → held by another: wait until it changes, or has not changed for its duration ─┐
//   │     └→ free, ours or run out ─────────────────────────────────────────────────→ write ←┘
//   ├──────────── refused (409): somebody was faster ────────────────────────────────┘ │
//   └── not renewed within the deadline, or taken: lost ←── leading, write each retry ←─┘ done
//
// Clocks of other machines do not matter: a lease has run out when it was not *seen to change* for its duration by our
// own monotonic clock. Ours counts from before the request that renewed it was sent, so we always give up (renew
// deadline) before anybody else may take over (lease duration). Every write is bound to the resource version that the
// decision was made on, so of several that try at once one wins.
// The protocol is client-go's, so that its tools and theirs may share a Lease. Pure; not thread-safe.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "services/kit/base/error.hpp"
#include "services/kit/kube/lease.hpp"

namespace stackgate::kube {

struct LeaderTuning {
  std::chrono::seconds lease_duration{15};           // how long others wait for a sign of life
  std::chrono::milliseconds renew_deadline{10'000};  // how long we believe in ourselves without one
  std::chrono::milliseconds retry{2'000};            // between renewals, and between attempts
};

struct ReadLease {};
/// Create the Lease, or patch it when the record has a resource version. Set renew_time to now, and acquire_time too if
/// `acquired`.
struct WriteLease {
  LeaseRecord record;
  bool acquired = false;
};
struct WaitUntil {
  std::chrono::steady_clock::time_point time;
};
using LeaderAction = std::variant<ReadLease, WriteLease, WaitUntil>;

/// Monotonic.
struct LeaderCounts {
  std::uint64_t acquired = 0, lost = 0, renewals = 0, failures = 0, conflicts = 0;
  std::uint64_t transitions_seen = 0;  // changes of the holder, to ourselves included
};

class LeaderMachine {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `identity` must be different for each process; see make_identity(). `tuning` must pass check().
  LeaderMachine(const LeaderTuning& tuning, std::string identity) : tuning_(tuning), identity_(std::move(identity)) {}

  /// Whether these figures can work: lease duration > renew deadline > retry > 0.
  static std::optional<Error> check(const LeaderTuning& tuning);

  /// What to do now; asked again after each answer, at the time of WaitUntil, and whenever something was seen.
  LeaderAction next(Time now);

  /// Stops leading when the renew deadline has passed; next() does it too.
  void expire(Time now);
  /// The answer to ReadLease; nullptr: there is no such Lease.
  void read(const LeaseRecord* record, Time now);
  /// A watch brought this. Old news and echoes of our own writes are passed over.
  void seen(const LeaseRecord* record, Time now);
  /// Whether a watch is open: without one the Lease is read each `retry` instead.
  void watching(bool open) { watching_ = open; }
  /// WriteLease succeeded; `stored` is the answer, `begun` the time before the request was sent.
  void written(const LeaseRecord& stored, Time begun);
  /// ReadLease or WriteLease failed; `conflict`: the stored Lease was no longer the one that was read (409, 404).
  void failed(bool conflict, Time now);

  /// Gives the lease up: what to write so that the next may take over at once, or nothing if it is not ours.
  std::optional<LeaseRecord> release();

  /// Ours until `leading_until()`, unless renewed before. It says so for a given time, not since the last call.
  bool leading(Time now) const { return leading_ && now < leading_until(); }
  Time leading_until() const { return renewed_ + tuning_.renew_deadline; }
  /// Who holds the lease as far as we know; empty: nobody.
  const std::string& holder() const;
  const LeaderCounts& counts() const { return counts_; }
  /// Why the lease was lost, after leading() went from true to false.
  const std::string& why_lost() const { return why_lost_; }

 private:
  void learn(const LeaseRecord* record, Time now);
  void lose(std::string why);
  bool held_by_another() const;
  Time runs_out() const;

  LeaderTuning tuning_;
  std::string identity_;
  std::optional<LeaseRecord> record_;  // the newest we know
  bool known_ = false;                 // record_ is what is stored now, as far as we know
  bool watching_ = false;
  bool leading_ = false;
  Time changed_{};     // when record_ was first seen as it is
  Time renewed_{};     // before the request of our last renewal was sent
  Time not_before_{};  // next attempt
  Time last_read_{};
  int conflicts_in_row_ = 0;
  std::string why_lost_;
  LeaderCounts counts_;
};

}  // namespace stackgate::kube
