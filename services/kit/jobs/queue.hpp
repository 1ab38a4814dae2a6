// Jobs that outlive the process that took them: rows in the service's database, worked on under a lease. Every replica
// may claim; whoever stops renewing its lease loses the job to another. All times are the database's, so clocks of
// replicas need not agree. Thread-safe; calls block for the database.
//
//   queued ──claim──▶ running ──finish──▶ succeeded, failed, cancelled
//     ▲  ◀──put_back───┘ │ └── lease runs out: claimed again
//     └──── cancel: queued ──▶ cancelled at once; running: its worker is asked to stop
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/sql/database.hpp"
#include "services/kit/sql/migrate.hpp"

namespace stackgate::jobs {

enum class State : std::uint8_t { queued, running, succeeded, failed, cancelled };
std::string_view to_string(State state);
std::optional<State> state_named(std::string_view name);

struct Job {
  std::string id, kind;
  State state = State::queued;
  std::string input;   // JSON, as it was enqueued
  std::string result;  // JSON: of the worker's, progress while it runs
  std::string owner;   // that works on it or did last
  std::int64_t attempts = 0;
  bool cancel_requested = false;
  std::int64_t created_at = 0, changed_at = 0;  // seconds since 1970
};

struct Enqueued {
  std::string id;
  bool is_new = true;  // false: the key was used before, and this is the job of then
};

/// What a service adds to its own migrations, under the version that it gives. Table `job`.
sql::Migration migration(int version);

class Queue {
 public:
  /// `owner`: this replica, different at each start. `lease`: how long a job stays its worker's without a renewal.
  Queue(sql::Database& database, std::string owner, std::chrono::seconds lease)
      : database_(database), owner_(std::move(owner)), lease_(lease) {}

  /// `key`, where not empty: one job for each (Idempotency-Key).
  sql::Expected<Enqueued> enqueue(std::string_view kind, std::string_view input, std::string_view key = {});
  sql::Expected<std::optional<Job>> read(std::string_view id) const;
  /// The newest first. `after`: the last id of the page before.
  sql::Expected<std::vector<Job>> list(std::string_view kind, std::optional<State> state, std::size_t limit,
                                       std::string_view after = {}) const;
  /// The state that it has now; nothing when there is no such job. A final state stays.
  sql::Expected<std::optional<State>> cancel(std::string_view id);
  /// Final jobs that have not changed for so long. How many.
  sql::Expected<std::int64_t> remove_finished(std::chrono::seconds age);

  // For workers. False and nothing: the job is not this owner's any more.

  /// The oldest one that waits, or whose lease has run out.
  sql::Expected<std::optional<Job>> claim(std::string_view kind);
  struct Renewed {
    bool ours = false, cancel_requested = false;
  };
  sql::Expected<Renewed> renew(std::string_view id);
  sql::Expected<bool> note_progress(std::string_view id, std::string_view result);
  sql::Expected<bool> finish(std::string_view id, State state, std::string_view result);
  /// Queued again, for anyone, after `pause`; `counts`: whether this attempt counts.
  sql::Expected<bool> put_back(std::string_view id, std::chrono::seconds pause, bool counts);

 private:
  sql::Expected<bool> change(std::string_view statement, std::vector<sql::Value> values);

  sql::Database& database_;
  const std::string owner_;
  const std::chrono::seconds lease_;
};

}  // namespace stackgate::jobs
