#include "services/kit/jobs/queue.hpp"

#include <array>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/sql/database.hpp"

namespace stackgate::jobs {
namespace {

constexpr std::array names = {std::string_view("queued"), std::string_view("running"), std::string_view("succeeded"),
                              std::string_view("failed"), std::string_view("cancelled")};

constexpr std::string_view columns =
    "id, kind, state, input, result, owner, attempts, cancel_requested, created_at, changed_at";

// number: the order of arrival. lease_until: seconds since 1970; not_before likewise, of a queued job.
constexpr std::string_view table =
    "CREATE TABLE job (\n"
    "  number INTEGER PRIMARY KEY AUTOINCREMENT,\n"
    "  id TEXT NOT NULL UNIQUE,\n"
    "  kind TEXT NOT NULL,\n"
    "  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),\n"
    "  input TEXT NOT NULL,\n"
    "  result TEXT NOT NULL DEFAULT '',\n"
    "  idempotency_key TEXT UNIQUE,\n"
    "  owner TEXT NOT NULL DEFAULT '',\n"
    "  lease_until BIGINT NOT NULL DEFAULT 0,\n"
    "  not_before BIGINT NOT NULL DEFAULT 0,\n"
    "  attempts BIGINT NOT NULL DEFAULT 0,\n"
    "  cancel_requested INTEGER NOT NULL DEFAULT 0,\n"
    "  created_at BIGINT NOT NULL,\n"
    "  changed_at BIGINT NOT NULL\n"
    ");\n"
    "CREATE INDEX job_open ON job (kind, number) WHERE state IN ('queued', 'running');\n";

std::string new_id() { return crypto::random_hex(16); }

Job read_job(const sql::Row& row) {
  return {.id = row.text(0),
          .kind = row.text(1),
          .state = state_named(row.text(2)).value_or(State::failed),
          .input = row.text(3),
          .result = row.text(4),
          .owner = row.text(5),
          .attempts = row.integer(6),
          .cancel_requested = row.integer(7) != 0,
          .created_at = row.integer(8),
          .changed_at = row.integer(9)};
}

}  // namespace

std::string_view to_string(State state) { return names.at(static_cast<std::size_t>(state)); }

std::optional<State> state_named(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names.at(i) == name) return static_cast<State>(i);
  return std::nullopt;
}

sql::Migration migration(int version) { return {version, "jobs", table, ""}; }

sql::Expected<Enqueued> Queue::enqueue(std::string_view kind, std::string_view input, std::string_view key) {
  const std::string id = new_id();
  const sql::Value unique = key.empty() ? sql::Value(nullptr) : sql::Value(std::string(key));
  const auto done = TRY(
      database_.run(fmt::format("INSERT INTO job (id, kind, state, input, idempotency_key, created_at, changed_at) "
                                "VALUES ($1, $2, 'queued', $3, $4, {0}, {0}) ON CONFLICT (idempotency_key) DO NOTHING",
                                sql::now_seconds(database_.engine())),
                    {id, std::string(kind), std::string(input), unique}));
  if (done.affected > 0) return Enqueued{id, true};
  const auto earlier = TRY(database_.run("SELECT id FROM job WHERE idempotency_key = $1", {unique}));
  if (earlier.rows.empty()) return std::unexpected(sql::SqlError{sql::Fault::conflict, "the job was just removed", {}});
  return Enqueued{earlier.rows.front().text(0), false};
}

sql::Expected<std::optional<Job>> Queue::read(std::string_view id) const {
  const auto found = TRY(database_.run(fmt::format("SELECT {} FROM job WHERE id = $1", columns), {std::string(id)}));
  if (found.rows.empty()) return std::nullopt;
  return read_job(found.rows.front());
}

sql::Expected<std::vector<Job>> Queue::list(std::string_view kind, std::optional<State> state, std::size_t limit,
                                            std::string_view after) const {
  const auto found =
      TRY(database_.run(fmt::format("SELECT {} FROM job WHERE kind = $1 AND ($2 = '' OR state = $2) AND ($3 = '' OR "
                                    "number < (SELECT number FROM job WHERE id = $3)) ORDER BY number DESC LIMIT $4",
                                    columns),
                        {std::string(kind), std::string(state ? to_string(*state) : ""), std::string(after),
                         static_cast<std::int64_t>(limit)}));
  std::vector<Job> jobs;
  jobs.reserve(found.rows.size());
  for (const sql::Row& row : found.rows) jobs.push_back(read_job(row));
  return jobs;
}

sql::Expected<std::optional<State>> Queue::cancel(std::string_view id) {
  TRY(database_.run(fmt::format("UPDATE job SET cancel_requested = 1, changed_at = {}, "
                                "state = CASE state WHEN 'queued' THEN 'cancelled' ELSE state END "
                                "WHERE id = $1 AND state IN ('queued', 'running')",
                                sql::now_seconds(database_.engine())),
                    {std::string(id)}));
  const auto job = TRY(read(id));
  if (!job) return std::nullopt;
  return job->state;
}

sql::Expected<std::int64_t> Queue::remove_finished(std::chrono::seconds age) {
  const auto done =
      TRY(database_.run(fmt::format("DELETE FROM job WHERE state NOT IN ('queued', 'running') AND changed_at < {} - $1",
                                    sql::now_seconds(database_.engine())),
                        {static_cast<std::int64_t>(age.count())}));
  return done.affected;
}

sql::Expected<std::optional<Job>> Queue::claim(std::string_view kind) {
  // The outer condition is what PostgreSQL looks at again when another replica took the same row first.
  const auto done = TRY(database_.run(
      fmt::format("UPDATE job SET state = 'running', owner = $1, lease_until = {0} + $2, attempts = attempts + 1, "
                  "changed_at = {0} WHERE number = (SELECT number FROM job WHERE kind = $3 AND "
                  "((state = 'queued' AND not_before <= {0}) OR (state = 'running' AND lease_until < {0})) "
                  "ORDER BY number LIMIT 1) AND (state = 'queued' OR lease_until < {0}) RETURNING {1}",
                  sql::now_seconds(database_.engine()), columns),
      {owner_, static_cast<std::int64_t>(lease_.count()), std::string(kind)}));
  if (done.rows.empty()) return std::nullopt;
  return read_job(done.rows.front());
}

sql::Expected<Queue::Renewed> Queue::renew(std::string_view id) {
  const auto done = TRY(database_.run(
      fmt::format("UPDATE job SET lease_until = {} + $1 WHERE id = $2 AND owner = $3 AND state = 'running' "
                  "RETURNING cancel_requested",
                  sql::now_seconds(database_.engine())),
      {static_cast<std::int64_t>(lease_.count()), std::string(id), owner_}));
  if (done.rows.empty()) return Renewed{};
  return Renewed{.ours = true, .cancel_requested = done.rows.front().integer(0) != 0};
}

sql::Expected<bool> Queue::change(std::string_view assignments, std::vector<sql::Value> values) {
  values.emplace_back(owner_);
  const auto done = TRY(database_.run(
      fmt::format("UPDATE job SET {}, changed_at = {} WHERE id = $1 AND owner = ${} AND state = 'running'", assignments,
                  sql::now_seconds(database_.engine()), values.size()),
      values));
  return done.affected > 0;
}

sql::Expected<bool> Queue::note_progress(std::string_view id, std::string_view result) {
  return change("result = $2", {std::string(id), std::string(result)});
}

sql::Expected<bool> Queue::finish(std::string_view id, State state, std::string_view result) {
  return change("state = $2, result = $3", {std::string(id), std::string(to_string(state)), std::string(result)});
}

sql::Expected<bool> Queue::put_back(std::string_view id, std::chrono::seconds pause, bool counts) {
  return change(fmt::format("state = CASE cancel_requested WHEN 0 THEN 'queued' ELSE 'cancelled' END, "
                            "not_before = {} + $2, attempts = attempts - $3",
                            sql::now_seconds(database_.engine())),
                {std::string(id), static_cast<std::int64_t>(pause.count()), std::int64_t{counts ? 0 : 1}});
}

}  // namespace stackgate::jobs
