#include "services/evaluator/records/records.hpp"

#include <array>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/jobs/queue.hpp"

namespace stackgate::evaluator {
namespace {

using sql::Row;
using sql::Session;

constexpr std::string_view tables =
    "CREATE TABLE evaluation (\n"
    "  number INTEGER PRIMARY KEY AUTOINCREMENT,\n"
    "  id TEXT NOT NULL UNIQUE,\n"
    "  name TEXT NOT NULL UNIQUE,\n"
    "  framework TEXT NOT NULL,\n"
    "  job TEXT NOT NULL DEFAULT '',\n"
    "  state TEXT NOT NULL,\n"
    "  message TEXT NOT NULL DEFAULT '',\n"
    "  request TEXT NOT NULL,\n"
    "  secrets TEXT NOT NULL,\n"
    "  warnings TEXT NOT NULL,\n"
    "  progress TEXT NOT NULL DEFAULT '',\n"
    "  results TEXT NOT NULL DEFAULT '',\n"
    "  created_at BIGINT NOT NULL,\n"
    "  changed_at BIGINT NOT NULL,\n"
    "  started_at BIGINT NOT NULL DEFAULT 0,\n"
    "  ended_at BIGINT NOT NULL DEFAULT 0\n"
    ");\n"
    "CREATE INDEX evaluation_state ON evaluation (state, number);\n"
    "CREATE TABLE evaluation_answer (\n"
    "  evaluation TEXT NOT NULL,\n"
    "  digest TEXT NOT NULL,\n"
    "  answer TEXT NOT NULL,\n"
    "  PRIMARY KEY (evaluation, digest)\n"
    ");\n"
    "CREATE TABLE evaluation_sample (\n"
    "  evaluation TEXT NOT NULL,\n"
    "  task TEXT NOT NULL,\n"
    "  number BIGINT NOT NULL,\n"
    "  record TEXT NOT NULL,\n"
    "  PRIMARY KEY (evaluation, task, number)\n"
    ");\n"
    "CREATE TABLE evaluation_event (\n"
    "  number INTEGER PRIMARY KEY AUTOINCREMENT,\n"
    "  evaluation TEXT NOT NULL,\n"
    "  at BIGINT NOT NULL,\n"
    "  is_log INTEGER NOT NULL DEFAULT 0,\n"
    "  message TEXT NOT NULL\n"
    ");\n"
    "CREATE INDEX evaluation_event_of ON evaluation_event (evaluation, number);\n";

/// `evaluation` is '' where the last one was removed.
constexpr std::string_view additions =
    "ALTER TABLE evaluation ADD COLUMN traceparent TEXT NOT NULL DEFAULT '';\n"
    "ALTER TABLE evaluation ADD COLUMN adapter TEXT NOT NULL DEFAULT '';\n"
    "CREATE TABLE evaluation_collection (\n"
    "  collection TEXT NOT NULL,\n"
    "  evaluation TEXT NOT NULL,\n"
    "  PRIMARY KEY (collection, evaluation)\n"
    ");\n"
    "CREATE INDEX evaluation_collection_of ON evaluation_collection (evaluation);\n";

constexpr std::string_view columns =
    "id, name, request, state, message, progress, warnings, job, created_at, changed_at, started_at, ended_at, "
    "traceparent, adapter";

/// Of `columns`, and of the results where they follow.
Evaluation read_row(const Row& row) {
  return {.id = row.text(0),
          .name = row.text(1),
          .request = row.text(2),
          .state = state_named(row.text(3)).value_or(State::failed),
          .message = row.text(4),
          .progress = row.text(5),
          .results = row.size() > 14 ? row.text(14) : std::string(),
          .warnings = row.text(6),
          .job = row.text(7),
          .adapter = row.text(13),
          .traceparent = row.text(12),
          .created_at = row.integer(8),
          .changed_at = row.integer(9),
          .started_at = row.integer(10),
          .ended_at = row.integer(11)};
}

/// The event of an end.
std::string end_of(State state, std::string_view message) {
  return message.empty() ? std::string(to_string(state)) : fmt::format("{}: {}", to_string(state), message);
}

sql::Expected<void> put_event(Session& session, std::string_view id, std::string_view message) {
  TRY(session.run(fmt::format("INSERT INTO evaluation_event (evaluation, at, message) VALUES ($1, {}, $2)",
                              sql::now_seconds(session.engine())),
                  {std::string(id), std::string(message)}));
  return {};
}

constexpr std::string_view open_states = "('created', 'pending', 'running', 'cancelling')";

}  // namespace

std::span<const sql::Migration> evaluation_migrations() {
  static const std::array all = {sql::Migration{1, "evaluations", tables, ""}, jobs::migration(2),
                                 sql::Migration{3, "traces, adapters, collections", additions, ""}};
  return all;
}

sql::Expected<std::optional<std::string>> Records::create(const NewEvaluation& wanted) {
  std::string id = "eval-" + crypto::random_hex(8);
  bool is_new = false;
  TRY(database_.transact([&](Session& session) -> sql::Expected<void> {
    const auto done = TRY(session.run(
        fmt::format(
            "INSERT INTO evaluation (id, name, framework, state, request, secrets, warnings, traceparent, adapter, "
            "created_at, changed_at) VALUES ($1, $2, $3, 'created', $4, $5, $6, $7, $8, {0}, {0}) ON CONFLICT (name) "
            "DO NOTHING",
            sql::now_seconds(session.engine())),
        {id, wanted.name, wanted.framework, wanted.request, wanted.secrets, wanted.warnings, wanted.traceparent,
         wanted.adapter}));
    is_new = done.affected > 0;
    return is_new ? put_event(session, id, "created") : sql::Expected<void>();
  }));
  if (!is_new) return std::nullopt;
  return id;
}

sql::Expected<std::optional<Evaluation>> Records::find_where(std::string_view condition, std::string_view value) const {
  const auto found = TRY(database_.run(
      fmt::format("SELECT {}, results FROM evaluation WHERE {} = $1", columns, condition), {std::string(value)}));
  if (found.rows.empty()) return std::nullopt;
  return read_row(found.rows.front());
}

sql::Expected<std::optional<Evaluation>> Records::find(std::string_view name) const { return find_where("name", name); }
sql::Expected<std::optional<Evaluation>> Records::find_by_id(std::string_view id) const { return find_where("id", id); }

sql::Expected<std::string> Records::secrets(std::string_view id) const {
  const auto found = TRY(database_.run("SELECT secrets FROM evaluation WHERE id = $1", {std::string(id)}));
  return found.rows.empty() ? std::string() : found.rows.front().text(0);
}

sql::Expected<Records::Listed> Records::list(const ListOptions& options) const {
  const std::string state(options.state ? to_string(*options.state) : "");
  constexpr std::string_view which = "($1 = '' OR state = $1) AND ($2 = '' OR framework = $2)";
  Listed out;
  TRY(database_.read([&](Session& session) -> sql::Expected<void> {
    const auto count =
        TRY(session.run(fmt::format("SELECT count(*) FROM evaluation WHERE {}", which), {state, options.framework}));
    out.total = count.rows.front().integer(0);
    const auto found =
        TRY(session.run(fmt::format("SELECT {} FROM evaluation WHERE {} ORDER BY number {} LIMIT $3 OFFSET $4", columns,
                                    which, options.oldest_first ? "ASC" : "DESC"),
                        {state, options.framework, options.limit, options.offset}));
    out.rows.clear();
    for (const Row& row : found.rows) out.rows.push_back(read_row(row));
    return {};
  }));
  return out;
}

sql::Expected<std::vector<Evaluation>> Records::not_queued() const {
  const auto found = TRY(database_.run(fmt::format(
      "SELECT {} FROM evaluation WHERE state = 'created' AND job = '' ORDER BY number LIMIT 100", columns)));
  std::vector<Evaluation> out;
  out.reserve(found.rows.size());
  for (const Row& row : found.rows) out.push_back(read_row(row));
  return out;
}

sql::Expected<void> Records::set_request(std::string_view id, std::string_view request) {
  TRY(database_.run("UPDATE evaluation SET request = $2 WHERE id = $1", {std::string(id), std::string(request)}));
  return {};
}

sql::Expected<void> Records::set_job(std::string_view id, std::string_view job) {
  return database_.transact([&](Session& session) -> sql::Expected<void> {
    const auto queued =
        TRY(session.run(fmt::format("UPDATE evaluation SET job = $2, state = 'pending', changed_at = {} "
                                    "WHERE id = $1 AND state = 'created'",
                                    sql::now_seconds(session.engine())),
                        {std::string(id), std::string(job)}));
    if (queued.affected > 0) return put_event(session, id, "pending");
    // A worker may have begun with it.
    TRY(session.run("UPDATE evaluation SET job = $2 WHERE id = $1", {std::string(id), std::string(job)}));
    return {};
  });
}

sql::Expected<bool> Records::move(std::string_view id, State to, std::string_view message, std::string_view event) {
  bool moved = false;
  TRY(database_.transact([&](Session& session) -> sql::Expected<void> {
    const auto done = TRY(
        session.run(fmt::format("UPDATE evaluation SET state = $2, message = $3, changed_at = {0}, "
                                "started_at = CASE WHEN $2 = 'running' AND started_at = 0 THEN {0} ELSE started_at END "
                                "WHERE id = $1 AND state IN {1} AND NOT (state = 'cancelling' AND $2 <> 'cancelling')",
                                sql::now_seconds(session.engine()), open_states),
                    {std::string(id), std::string(to_string(to)), std::string(message)}));
    moved = done.affected > 0;
    return moved && !event.empty() ? put_event(session, id, event) : sql::Expected<void>();
  }));
  return moved;
}

sql::Expected<bool> Records::set_progress(std::string_view id, std::string_view progress, std::string_view results) {
  const auto done = TRY(database_.run(
      fmt::format("UPDATE evaluation SET progress = $2, results = CASE WHEN $3 = '' THEN results ELSE $3 END, "
                  "changed_at = {} WHERE id = $1 AND state IN {}",
                  sql::now_seconds(database_.engine()), open_states),
      {std::string(id), std::string(progress), std::string(results)}));
  return done.affected > 0;
}

sql::Expected<bool> Records::finish(std::string_view id, State state, std::string_view message,
                                    std::string_view results) {
  bool ended = false;
  TRY(database_.transact([&](Session& session) -> sql::Expected<void> {
    const auto done = TRY(session.run(
        fmt::format("UPDATE evaluation SET state = $2, message = $3, secrets = '', changed_at = {0}, ended_at = {0}, "
                    "results = CASE WHEN $4 = '' THEN results ELSE $4 END WHERE id = $1 AND state IN {1}",
                    sql::now_seconds(database_.engine()), open_states),
        {std::string(id), std::string(to_string(state)), std::string(message), std::string(results)}));
    ended = done.affected > 0;
    if (!ended) return {};
    TRY(session.run("DELETE FROM evaluation_answer WHERE evaluation = $1", {std::string(id)}));
    return put_event(session, id, end_of(state, message));
  }));
  return ended;
}

sql::Expected<bool> Records::remove(std::string_view name) {
  bool removed = false;
  TRY(database_.transact([&](Session& session) -> sql::Expected<void> {
    const auto done = TRY(session.run("DELETE FROM evaluation WHERE name = $1 RETURNING id", {std::string(name)}));
    removed = !done.rows.empty();
    if (!removed) return {};
    const std::string id = done.rows.front().text(0);
    TRY(session.run("DELETE FROM evaluation_answer WHERE evaluation = $1", {id}));
    TRY(session.run("DELETE FROM evaluation_sample WHERE evaluation = $1", {id}));
    TRY(session.run("DELETE FROM evaluation_event WHERE evaluation = $1", {id}));
    TRY(
        session.run("INSERT INTO evaluation_collection (collection, evaluation) SELECT collection, '' FROM "
                    "evaluation_collection WHERE evaluation = $1 ON CONFLICT (collection, evaluation) DO NOTHING",
                    {id}));
    TRY(session.run("DELETE FROM evaluation_collection WHERE evaluation = $1", {id}));
    return {};
  }));
  return removed;
}

sql::Expected<void> Records::use_collection(std::string_view id, std::string_view collection) {
  TRY(
      database_.run("INSERT INTO evaluation_collection (collection, evaluation) VALUES ($1, $2) "
                    "ON CONFLICT (collection, evaluation) DO NOTHING",
                    {std::string(collection), std::string(id)}));
  return {};
}

sql::Expected<std::vector<std::string>> Records::take_unused_collections() {
  std::vector<std::string> out;
  TRY(database_.transact([&](Session& session) -> sql::Expected<void> {
    out.clear();
    const auto unused = TRY(
        session.run("SELECT collection FROM evaluation_collection GROUP BY collection HAVING max(evaluation) = ''"));
    for (const Row& row : unused.rows) {
      out.push_back(row.text(0));
      TRY(session.run("DELETE FROM evaluation_collection WHERE collection = $1", {out.back()}));
    }
    return {};
  }));
  return out;
}

sql::Expected<void> Records::put_back_collection(std::string_view collection) { return use_collection("", collection); }

sql::Expected<std::map<std::string, std::string>> Records::answers(std::string_view id,
                                                                   std::span<const std::string> digests) const {
  std::map<std::string, std::string> out;
  TRY(database_.read([&](Session& session) -> sql::Expected<void> {
    out.clear();
    for (const std::string& digest : digests) {
      const auto found = TRY(session.run("SELECT answer FROM evaluation_answer WHERE evaluation = $1 AND digest = $2",
                                         {std::string(id), digest}));
      if (!found.rows.empty()) out.emplace(digest, found.rows.front().text(0));
    }
    return {};
  }));
  return out;
}

sql::Expected<void> Records::add_answers(std::string_view id,
                                         std::span<const std::pair<std::string, std::string>> answers) {
  return database_.transact([&](Session& session) -> sql::Expected<void> {
    for (const auto& [digest, answer] : answers)
      TRY(
          session.run("INSERT INTO evaluation_answer (evaluation, digest, answer) VALUES ($1, $2, $3) "
                      "ON CONFLICT (evaluation, digest) DO NOTHING",
                      {std::string(id), digest, answer}));
    return {};
  });
}

sql::Expected<void> Records::add_samples(std::string_view id, std::span<const Sample> samples) {
  return database_.transact([&](Session& session) -> sql::Expected<void> {
    for (const Sample& each : samples)
      TRY(
          session.run("INSERT INTO evaluation_sample (evaluation, task, number, record) VALUES ($1, $2, $3, $4) "
                      "ON CONFLICT (evaluation, task, number) DO UPDATE SET record = excluded.record",
                      {std::string(id), each.task, each.number, each.record}));
    return {};
  });
}

sql::Expected<std::vector<Sample>> Records::samples(std::string_view id, std::string_view task, std::int64_t after,
                                                    std::int64_t limit) const {
  const auto found = TRY(database_.run(
      "SELECT task, number, record FROM evaluation_sample WHERE evaluation = $1 AND task = $2 AND number > $3 "
      "ORDER BY number LIMIT $4",
      {std::string(id), std::string(task), after, limit}));
  std::vector<Sample> out;
  out.reserve(found.rows.size());
  for (const Row& row : found.rows) out.push_back({row.text(0), row.integer(1), row.text(2)});
  return out;
}

sql::Expected<void> Records::add_event(std::string_view id, std::string_view message) {
  return database_.transact([&](Session& session) { return put_event(session, id, message); });
}

sql::Expected<void> Records::add_log(std::string_view id, std::span<const std::string> lines) {
  return database_.transact([&](Session& session) -> sql::Expected<void> {
    for (const std::string& line : lines)
      TRY(session.run(
          fmt::format("INSERT INTO evaluation_event (evaluation, at, is_log, message) VALUES ($1, {}, 1, $2)",
                      sql::now_seconds(session.engine())),
          {std::string(id), line}));
    return {};
  });
}

sql::Expected<std::vector<Event>> Records::events(std::string_view id, std::int64_t after, std::int64_t limit,
                                                  bool with_log) const {
  const auto found = TRY(
      database_.run("SELECT number, at, message, is_log FROM evaluation_event WHERE evaluation = $1 AND number > $2 "
                    "AND is_log <= $4 ORDER BY number LIMIT $3",
                    {std::string(id), after, limit, std::int64_t{with_log ? 1 : 0}}));
  std::vector<Event> out;
  out.reserve(found.rows.size());
  for (const Row& row : found.rows)
    out.push_back(
        {.number = row.integer(0), .at = row.integer(1), .message = row.text(2), .is_log = row.integer(3) != 0});
  return out;
}

}  // namespace stackgate::evaluator
