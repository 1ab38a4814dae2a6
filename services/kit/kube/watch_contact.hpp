// Whether the API server is reached at all, and how that is reported: one warning when it has been
// away for some seconds, one line when it is back, whatever the number of watches.
//
// Contact is lost when an attempt gets no answer while no watch is open, not when nothing comes: a quiet watch gets
// one bookmark a minute.
#pragma once
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace stackgate::kube {

/// Pure; not thread-safe.
class Contact {
 public:
  using Clock = std::chrono::steady_clock;
  /// Shorter absences are not reported: a connection is moved, an API server is replaced by its neighbour.
  static constexpr std::chrono::seconds patience{5};

  /// The API server answered. How long it had been away, when that had been reported.
  std::optional<Clock::duration> answered(Clock::time_point now);
  /// An attempt got no answer, and nothing else is open.
  void failed(Clock::time_point now, std::string_view error);
  /// True once for each loss, as soon as it has lasted for `patience`.
  bool report_loss(Clock::time_point now);
  /// When report_loss() can be true next; nothing in contact, and nothing when it has been reported.
  std::optional<Clock::time_point> due() const;

  bool lost() const { return since_.has_value(); }
  /// Since the first attempt that failed; 0 in contact.
  Clock::duration lost_for(Clock::time_point now) const;
  /// Of the last attempt; empty in contact.
  const std::string& error() const { return error_; }
  /// "no answer from the API server for 42 s: …"; empty in contact and before `patience` is over.
  std::string problem(Clock::time_point now) const;

 private:
  std::optional<Clock::time_point> since_;
  bool reported_ = false;
  std::string error_;
};

/// A Contact by the steady clock that writes the log lines. Thread-safe.
class ContactLog {
 public:
  /// `server`: its URL, for the log.
  explicit ContactLog(std::string server) : server_(std::move(server)) {}

  void answered();
  /// Call look() after the time that this returns, if any.
  std::optional<std::chrono::milliseconds> failed(std::string_view error);
  /// Writes the warning when it is due; otherwise how long until it is.
  std::optional<std::chrono::milliseconds> look();

  std::chrono::duration<double> lost_for() const;
  std::string problem() const;
  std::string error() const;

 private:
  const std::string server_;
  std::atomic<bool> lost_{false};  // so that each event of a healthy watch costs no lock
  mutable std::mutex mutex_;
  Contact contact_;
};

}  // namespace stackgate::kube
