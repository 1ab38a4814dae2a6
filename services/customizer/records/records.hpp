// Customizations, their loss curves, events and log lines, in SQLite or PostgreSQL. Times are the database's.
// Thread-safe; calls block for the database.
//
// Two write to a row, and neither undoes the other's work: who steps it, or changes what is to be done (state, stages),
// under a revision; and the trainer's reports (progress, trained).
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/customizer/job/changes.hpp"
#include "services/customizer/job/customization.hpp"
#include "services/customizer/job/progress.hpp"
#include "services/kit/sql/database.hpp"
#include "services/kit/sql/migrate.hpp"

namespace stackgate::customizer {

std::span<const sql::Migration> customization_migrations();

/// A customization in an experiment tracker: what of it was sent, and when to go on.
struct Tracking {
  std::string customization{}, tracker{};  // id; "mlflow", "wandb"
  std::string run{};                       // there; "": none was made yet
  std::int64_t sent = 0;                   // how far its points were sent; the tracker knows what it means
  std::int64_t lines = 0;
  std::string secret{};     // sealed
  Seconds failing_since{};  // 0: the last call has succeeded
  friend bool operator==(const Tracking&, const Tracking&) = default;
};

struct NewCustomization {
  std::string name, model, request, warnings;
  std::string key{}, digest{};  // Idempotency-Key, and of what came with it; "": none
  std::string traceparent{};
  struct Tracker {
    std::string name{}, secret{};  // sealed
  };
  std::vector<Tracker> trackers{};
};

struct Created {
  enum class Kind : std::uint8_t {
    made,
    name_taken,
    known,     // the key was used before, for the same: `id` is the customization of then
    key_taken  // the key was used before, for something else
  };
  Kind kind = Kind::made;
  std::string id{};
};

/// A row, with what is not shown.
struct Stored {
  Customization job{};
  std::int64_t revision = 0;
  std::string token{};        // the trainer's, for its reports; "" once it is erased
  std::string traceparent{};  // of the request that created it
};

struct ListOptions {
  std::optional<State> state{};
  std::string model{};  // a target's name, without its version those of all versions; "": all
  bool oldest_first = false;
  std::int64_t offset = 0, limit = 50;
};

struct Event {
  std::int64_t number = 0, at = 0;
  std::string message{}, detail{};
  bool is_log = false;  // a line that a stage wrote; `detail` is its attempt
};

class Records {
 public:
  /// `database` must outlive it and have the migrations.
  explicit Records(sql::Database& database) : database_(database) {}

  /// With the event "created" and a token of its own. It is stepped from now on.
  sql::Expected<Created> create(const NewCustomization& wanted);
  /// What the key was used for before; nothing: it was not.
  sql::Expected<std::optional<Created>> find_key(std::string_view key, std::string_view digest) const;
  /// By its name or its id.
  sql::Expected<std::optional<Stored>> find(std::string_view name_or_id) const;
  struct Listed {
    std::vector<Customization> rows{};
    std::int64_t total = 0;  // of all pages
  };
  sql::Expected<Listed> list(const ListOptions& options) const;
  /// Names of targets that customizations are of, at most 200.
  sql::Expected<std::vector<std::string>> models() const;
  /// How many are in each state that is not final; the others count as zero.
  sql::Expected<std::vector<std::pair<State, std::int64_t>>> open_states() const;
  /// With everything that belongs to it. False: it has moved on since `stored` was read, or is gone.
  sql::Expected<bool> remove(const Stored& stored);
  sql::Expected<Seconds> now() const;

  // What is to be done.

  /// State, message, stages and times, with the events of what has changed: in one transaction. False: it has moved on
  /// since `from` was read, or is gone, and nothing is changed. The token of what can never be tried again is erased.
  /// One that is tried again has a token, whatever became of the one before. `woken`: whoever steps it shall look at it
  /// now.
  sql::Expected<bool> store(const Stored& from, const Customization& to, bool woken = false);
  /// Nothing will ever be done about it again. Its token is erased. False: it has moved on since `from` was read.
  sql::Expected<bool> settle(const Stored& from);

  // Replicas share what is to be done: each customization has one that steps it, as long as that renews its lease.

  /// Of those without a replica, or whose replica has not renewed its lease: the ids of those that are `owner`'s now.
  sql::Expected<std::vector<std::string>> claim(std::string_view owner, std::chrono::seconds lease,
                                                std::int64_t limit) const;
  /// Of `owner`'s and of those without a replica: what waits and shows no reason, for longer than a second.
  sql::Expected<std::vector<std::string>> waiting_without_reason(std::string_view owner, std::int64_t limit) const;
  /// The ids of all that are still `owner`'s.
  sql::Expected<std::vector<std::string>> renew(std::string_view owner, std::chrono::seconds lease) const;
  sql::Expected<void> release(std::string_view owner) const;
  /// Those of `owner`'s that somebody has changed since the last call.
  sql::Expected<std::vector<std::string>> take_woken(std::string_view owner) const;
  /// Whoever steps it shall look at it.
  sql::Expected<void> wake(std::string_view id) const;

  // What is reported of it.

  struct Reported {
    bool known = true;      // false: there is none, or its token is another one
    std::string problem{};  // what is wrong with the event; "": nothing
  };
  /// What a trainer has posted: an event, or an array of events. Each counts once. Dropped where the customization is
  /// cancelled or in a final state.
  struct Report {
    std::string id{}, token{}, body{};
  };
  /// All of them in one transaction: what has come of each, in their order; or the error, and none of them is stored.
  sql::Expected<std::vector<Reported>> report(std::span<const Report> reports);
  sql::Expected<Reported> report(std::string_view id, std::string_view token, std::string_view body);
  /// The same of events that its own log has.
  sql::Expected<void> report_logged(const std::string& id, std::span<const std::string> events);
  /// In the order of their steps, behind `after`.
  sql::Expected<std::vector<MetricPoint>> points(std::string_view id, std::int64_t after, std::int64_t limit) const;
  /// Some `most` of all, evenly, with the first and the last; of those with a validation loss as many more.
  sql::Expected<std::vector<MetricPoint>> curves(std::string_view id, std::int64_t most) const;
  sql::Expected<void> add_event(std::string_view id, const Change& change);
  /// The event, and one more of the record's warnings: a JSON object.
  sql::Expected<void> add_warning(std::string_view id, const Change& change, std::string_view warning);
  /// Lines that a stage's attempt wrote ("training-1"): they stand among the events, as Event::is_log.
  sql::Expected<void> add_log(std::string_view id, std::string_view attempt, std::span<const std::string> lines);
  /// How many of them are stored, so that nobody stores them twice.
  sql::Expected<std::int64_t> log_lines(std::string_view id, std::string_view attempt) const;
  /// Behind the number `after`, in order; with lines of logs, or without.
  sql::Expected<std::vector<Event>> events(std::string_view id, std::int64_t after, std::int64_t limit,
                                           bool with_log = false) const;
  /// The last ones, in order: lines of logs, or the others.
  sql::Expected<std::vector<Event>> last_events(std::string_view id, bool is_log, std::int64_t limit) const;

  // Experiment trackers: the queue of what is to be sent is the curves themselves.

  /// Those whose time has come, at most `limit`; nobody else is given them for `lease`.
  sql::Expected<std::vector<Tracking>> take_trackings(std::chrono::seconds lease, std::int64_t limit) const;
  /// Again in so many seconds. What is gone stays gone.
  sql::Expected<void> store_tracking(const Tracking& tracking, Seconds again) const;
  /// Nothing is left to be sent; its secret is erased, unless it may be tried again.
  sql::Expected<void> end_tracking(const Tracking& tracking, bool keeps_secret) const;
  /// Of one that is tried again: all of its trackers go on.
  sql::Expected<void> resume_trackings(std::string_view id) const;

 private:
  sql::Expected<std::vector<Reported>> apply(std::span<const Report> reports, bool is_logged);

  sql::Database& database_;
};

}  // namespace stackgate::customizer
