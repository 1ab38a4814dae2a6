#include "services/customizer/records/records.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/customizer/job/stages_json.hpp"
#include "services/customizer/records/rows.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"

namespace stackgate::customizer {
namespace records_detail {

using sql::Row;
using sql::Session;

constexpr std::size_t id_bytes = 10, token_bytes = 32;
constexpr std::string_view id_prefix = "cust-";

sql::Expected<std::optional<Created>> of_key(Session& session, std::string_view key, std::string_view digest) {
  if (key.empty()) return std::nullopt;
  const auto found =
      TRY(session.run("SELECT id, digest FROM customization WHERE idempotency_key = $1", {std::string(key)}));
  if (found.rows.empty()) return std::nullopt;
  const bool same = found.rows.front().text(1) == digest;
  return Created{.kind = same ? Created::Kind::known : Created::Kind::key_taken, .id = found.rows.front().text(0)};
}

/// Only the conditions that are asked for, so that an index serves them; the same texts for the same filters.
struct Where {
  std::string text{};
  std::vector<sql::Value> values{};
  void add(std::string_view column, std::string value) {
    values.emplace_back(std::move(value));
    text += fmt::format("{}{} = ${}", text.empty() ? " WHERE " : " AND ", column, values.size());
  }
  void add_one_of(std::string_view column, std::vector<std::string> all) {
    if (all.size() == 1) return add(column, std::move(all.front()));
    text += fmt::format("{}{} IN (", text.empty() ? " WHERE " : " AND ", column);
    for (std::string& each : all) {
      values.emplace_back(std::move(each));
      text += fmt::format("{}${}", text.ends_with('(') ? "" : ", ", values.size());
    }
    text += ')';
  }
};

/// Those that are meant by a name: itself, or all of its versions.
std::vector<std::string> versions_of(const std::string& model, const std::vector<std::string>& all) {
  std::vector<std::string> out;
  for (const std::string& each : all)
    if (each == model || (!model.contains('@') && each.starts_with(model + "@"))) out.push_back(each);
  if (out.empty()) out.push_back(model);
  return out;
}

/// A failed one may be tried again, with the objects that it has.
bool erases_token(const Customization& job) { return is_final(job.state) && job.state != State::failed; }

}  // namespace records_detail

using namespace records_detail;

sql::Expected<Created> Records::create(const NewCustomization& wanted) {
  const std::string id = std::string(id_prefix) + crypto::random_hex(id_bytes), token = crypto::random_hex(token_bytes);
  Created out;
  TRY(database_.transact([&](Session& session) -> sql::Expected<void> {
    if (auto known = TRY(of_key(session, wanted.key, wanted.digest))) {
      out = std::move(*known);
      return {};
    }
    const auto done = TRY(session.run(
        fmt::format("INSERT INTO customization (id, name, model, state, request, warnings, token, traceparent, "
                    "idempotency_key, digest, created_at, changed_at) VALUES ($1, $2, $3, 'created', $4, $5, $6, $7, "
                    "$8, $9, {0}, {0}) ON CONFLICT (name) DO NOTHING",
                    sql::now_seconds(session.engine())),
        {id, wanted.name, wanted.model, wanted.request, wanted.warnings, token, wanted.traceparent,
         wanted.key.empty() ? sql::Value(nullptr) : sql::Value(wanted.key), wanted.digest}));
    out = {.kind = done.affected > 0 ? Created::Kind::made : Created::Kind::name_taken, .id = id};
    if (out.kind == Created::Kind::name_taken) return {};
    TRY(rows::count(session, wanted.model, State::created, 1));
    for (const auto& tracker : wanted.trackers)
      TRY(session.run("INSERT INTO customization_tracking (customization, tracker, secret) VALUES ($1, $2, $3)",
                      {id, tracker.name, tracker.secret}));
    return rows::put_event(session, id, {"created", ""});
  }));
  return out;
}

sql::Expected<std::optional<Created>> Records::find_key(std::string_view key, std::string_view digest) const {
  std::optional<Created> out;
  TRY(database_.read([&](Session& session) -> sql::Expected<void> {
    out = TRY(of_key(session, key, digest));
    return {};
  }));
  return out;
}

sql::Expected<std::optional<Stored>> Records::find(std::string_view name_or_id) const {
  std::optional<Stored> out;
  TRY(database_.read([&](Session& session) -> sql::Expected<void> {
    // Mostly the one that it looks like.
    const bool is_id = name_or_id.starts_with(id_prefix);
    out = TRY(rows::find(session, is_id ? "id" : "name", name_or_id));
    if (!out) out = TRY(rows::find(session, is_id ? "name" : "id", name_or_id));
    return {};
  }));
  return out;
}

sql::Expected<Records::Listed> Records::list(const ListOptions& options) const {
  Where where;
  if (!options.model.empty()) where.add_one_of("model", versions_of(options.model, TRY(models())));
  if (options.state) where.add("state", std::string(to_string(*options.state)));
  Listed out;
  TRY(database_.read([&](Session& session) -> sql::Expected<void> {
    const auto count = TRY(session.run(
        "SELECT CAST(coalesce(sum(amount), 0) AS BIGINT) FROM customization_count" + where.text, where.values));
    out.total = count.rows.front().integer(0);
    // What is skipped is walked over in an index: from the end that is nearer.
    const std::int64_t rest = std::max<std::int64_t>(0, out.total - options.offset);
    const std::int64_t count_of_page = std::min(options.limit, rest);
    const bool from_end = rest < options.offset;
    std::vector<sql::Value> values = where.values;
    values.insert(values.end(), {count_of_page, from_end ? rest - count_of_page : options.offset});
    const auto found = TRY(
        session.run(fmt::format("SELECT {0} FROM customization WHERE number IN (SELECT number FROM customization{1} "
                                "ORDER BY number {2} LIMIT ${3} OFFSET ${4}) ORDER BY number {5}",
                                rows::columns, where.text, options.oldest_first != from_end ? "ASC" : "DESC",
                                values.size() - 1, values.size(), options.oldest_first ? "ASC" : "DESC"),
                    values));
    out.rows.clear();
    for (const Row& row : found.rows) out.rows.push_back(rows::read_job(row));
    return {};
  }));
  return out;
}

sql::Expected<std::vector<std::string>> Records::models() const {
  const auto found = TRY(
      database_.run("SELECT model FROM customization_count GROUP BY model HAVING sum(amount) > 0 ORDER BY model LIMIT "
                    "200"));
  std::vector<std::string> out;
  out.reserve(found.rows.size());
  for (const Row& row : found.rows) out.push_back(row.text(0));
  return out;
}

sql::Expected<std::vector<std::pair<State, std::int64_t>>> Records::open_states() const {
  const auto found =
      TRY(database_.run("SELECT state, CAST(sum(amount) AS BIGINT) FROM customization_count WHERE state IN ('created', "
                        "'pending', 'running', 'cancelling') GROUP BY state HAVING sum(amount) > 0"));
  std::vector<std::pair<State, std::int64_t>> out;
  for (const Row& row : found.rows)
    if (const auto state = state_named(row.text(0))) out.emplace_back(*state, row.integer(1));
  return out;
}

sql::Expected<bool> Records::remove(const Stored& stored) {
  const std::string& id = stored.job.id;
  bool removed = false;
  TRY(database_.transact([&](Session& session) -> sql::Expected<void> {
    const auto done = TRY(session.run(
        "DELETE FROM customization WHERE id = $1 AND revision = $2 RETURNING model, state", {id, stored.revision}));
    removed = !done.rows.empty();
    if (!removed) return {};
    TRY(rows::count(session, done.rows.front().text(0), state_named(done.rows.front().text(1)).value_or(State::failed),
                    -1));
    TRY(session.run("DELETE FROM customization_point WHERE customization = $1", {id}));
    TRY(session.run("DELETE FROM customization_event WHERE customization = $1", {id}));
    TRY(session.run("DELETE FROM customization_tracking WHERE customization = $1", {id}));
    return {};
  }));
  return removed;
}

sql::Expected<Seconds> Records::now() const {
  const auto found = TRY(database_.run(fmt::format("SELECT {}", sql::now_seconds(database_.engine()))));
  return found.rows.front().integer(0);
}

sql::Expected<bool> Records::store(const Stored& from, const Customization& to, bool woken) {
  bool stored = false;
  // What is tried again behind its clean-up has lost the one that it had.
  const std::string token = is_final(from.job.state) && !is_final(to.state) ? crypto::random_hex(token_bytes) : "";
  TRY(database_.transact([&](Session& session) -> sql::Expected<void> {
    const auto done = TRY(session.run(
        "UPDATE customization SET state = $3, message = $4, stages = $5, changed_at = $6, started_at = $7, "
        "ended_at = $8, token = CASE WHEN $9 = 1 THEN '' WHEN token = '' THEN $11 ELSE token END, "
        "woken = CASE WHEN $10 = 1 THEN 1 ELSE woken END, cleared = $12, settled = 0, revision = revision + 1 "
        "WHERE id = $1 AND revision = $2 RETURNING model",
        {to.id, from.revision, std::string(to_string(to.state)), to.message, stages_json(to.stages), to.changed_at,
         to.started_at, to.ended_at, std::int64_t{erases_token(to) ? 1 : 0}, std::int64_t{woken ? 1 : 0}, token,
         std::int64_t{to.cleared ? 1 : 0}}));
    stored = !done.rows.empty();
    if (!stored) return {};
    // The revision is that of `from`, and so is its state.
    if (from.job.state != to.state) {
      TRY(rows::count(session, done.rows.front().text(0), from.job.state, -1));
      TRY(rows::count(session, done.rows.front().text(0), to.state, 1));
    }
    for (const Change& each : changes_of(from.job, to)) TRY(rows::put_event(session, to.id, each));
    return {};
  }));
  return stored;
}

sql::Expected<bool> Records::settle(const Stored& from) {
  const auto done =
      TRY(database_.run("UPDATE customization SET settled = 1, token = '', owner = '' "
                        "WHERE id = $1 AND revision = $2",
                        {from.job.id, from.revision}));
  return done.affected > 0;
}

}  // namespace stackgate::customizer
