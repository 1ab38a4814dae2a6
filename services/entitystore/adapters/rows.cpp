#include "services/entitystore/adapters/rows.hpp"

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/sql/database.hpp"

namespace stackgate::entitystore {
namespace rows_detail {

using sql::Result;
using sql::Session;
using sql::Value;

constexpr std::string_view columns =
    "a.id, a.namespace, a.name, a.version, a.base_model, a.status, a.reason, a.created_at, a.updated_at, a.deleted_at, "
    "a.changed, a.lora, a.description, a.project, a.tags, a.notes, a.repository, a.commit_sha, a.archive_sha256, "
    "a.archive_bytes, p.dataset, p.job_id, p.hyperparameters, p.metrics, p.training, a.step, a.owner, a.lease_until";

std::string select(std::string_view rest) {
  return fmt::format("SELECT {} FROM adapter a LEFT JOIN provenance p ON p.adapter_id = a.id {}", columns, rest);
}

std::string list_text(const std::vector<std::string>& list) {
  std::string out;
  json::Writer w(out);
  w.array([&] {
    for (const std::string& text : list) w.value(text);
  });
  return out;
}

std::vector<std::string> read_list(const json::Value* value) {
  std::vector<std::string> out;
  if (value == nullptr) return out;
  for (const json::Value& item : value->items()) out.emplace_back(item.string());
  return out;
}

std::vector<std::string> read_list(const std::string& text) {
  json::Document document;
  const auto root = json::parse(text, document);
  return root ? read_list(&*root) : std::vector<std::string>{};
}

std::string lora_text(const LoraConfig& lora) {
  return json::object_text([&](json::Writer& w) {
    w.member("rank", lora.rank);
    w.member("alpha", lora.alpha);
    w.member("dropout", lora.dropout);
    w.key("target_modules");
    w.raw(list_text(lora.target_modules));
  });
}

LoraConfig read_lora(const std::string& text) {
  json::Document document;
  const auto root = json::parse(text, document);
  LoraConfig out;
  if (!root) return out;
  if (const json::Value* rank = root->find("rank")) out.rank = rank->integer();
  if (const json::Value* alpha = root->find("alpha")) out.alpha = alpha->number();
  if (const json::Value* dropout = root->find("dropout")) out.dropout = dropout->number();
  out.target_modules = read_list(root->find("target_modules"));
  return out;
}

Work read_work_row(const sql::Row& row) {
  Work out;
  Record& r = out.record;
  r.id = row.text(0);
  r.name_space = row.text(1);
  r.name = row.text(2);
  r.version = row.text(3);
  r.base_model = row.text(4);
  r.status = parse_status(row.text(5)).value_or(Status::failed);
  r.reason = row.text(6);
  r.created_at = row.text(7);
  r.updated_at = row.text(8);
  r.deleted_at = row.text(9);
  r.changed = row.integer(10);
  r.lora = read_lora(row.text(11));
  r.description = row.text(12);
  r.project = row.text(13);
  r.tags = read_list(row.text(14));
  r.notes = read_list(row.text(15));
  r.repository = row.text(16);
  r.commit = row.text(17);
  r.archive_sha256 = row.text(18);
  r.archive_bytes = static_cast<std::uint64_t>(row.integer(19));
  r.dataset = row.text(20);
  r.job_id = row.text(21);
  r.hyperparameters = row.text(22);
  r.metrics = row.text(23);
  r.training = row.text(24);
  out.step = row.text(25);
  out.owner = row.text(26);
  out.lease_until = row.integer(27);
  return out;
}

sql::Expected<std::vector<Work>> works(const sql::Expected<Result>& result) {
  if (!result) return std::unexpected(result.error());
  std::vector<Work> out;
  out.reserve(result->rows.size());
  for (const sql::Row& row : result->rows) out.push_back(read_work_row(row));
  return out;
}

/// The lock on the counter's row makes changes take turns, so that the counter's order is the commits' order.
sql::Expected<std::int64_t> next_change(Session& session) {
  const auto result = TRY(session.run("UPDATE change_counter SET value = value + 1 WHERE id = 1 RETURNING value"));
  if (result.rows.empty())
    return std::unexpected(sql::SqlError{sql::Fault::broken, "the table change_counter is empty", {}});
  return result.rows[0].integer(0);
}

/// `assignments … WHERE …` with `changed` and `updated_at` set; $1 and $2 are those two. True when a row was changed.
sql::Expected<bool> change(sql::Database& database, std::string_view assignments, std::string_view where,
                           const std::vector<Value>& values) {
  bool changed = false;
  TRY(database.transact([&](Session& session) -> sql::Expected<void> {
    changed = false;
    const auto next = TRY(next_change(session));
    std::vector<Value> all = {next, timestamp()};
    all.insert(all.end(), values.begin(), values.end());
    const auto result = TRY(session.run(
        fmt::format("UPDATE adapter SET changed = $1, updated_at = $2, {} WHERE {}", assignments, where), all));
    changed = result.affected > 0;
    return {};
  }));
  return changed;
}

sql::Expected<void> insert_all(Session& session, const Record& r, const std::vector<StoredFile>& files,
                               const Lease& lease) {
  const auto next = TRY(next_change(session));
  TRY(session.run(
      fmt::format("INSERT INTO adapter (id, namespace, name, version, base_model, status, created_at, updated_at, "
                  "changed, lora, description, project, tags, notes, repository, archive_sha256, archive_bytes, step, "
                  "owner, lease_until) VALUES ($1, $2, $3, $4, $5, 'uploading', $6, $7, $8, $9, $10, $11, $12, $13, "
                  "$14, $15, $16, 'accepted', $17, {} + $18)",
                  sql::now_seconds(session.engine())),
      {r.id, r.name_space, r.name, r.version, r.base_model, r.created_at, r.updated_at, next, lora_text(r.lora),
       r.description, r.project, list_text(r.tags), list_text(r.notes), r.repository, r.archive_sha256,
       static_cast<std::int64_t>(r.archive_bytes), lease.owner, lease.seconds}));
  for (const StoredFile& file : files) {
    TRY(session.run(
        "INSERT INTO adapter_file (adapter_id, path, size, sha256, large) VALUES ($1, $2, $3, $4, $5)",
        {r.id, file.path, static_cast<std::int64_t>(file.size), file.sha256, std::int64_t{file.large ? 1 : 0}}));
  }
  TRY(session.run(
      "INSERT INTO provenance (adapter_id, dataset, job_id, hyperparameters, metrics, training) VALUES ($1, $2, $3, "
      "$4, $5, $6)",
      {r.id, r.dataset, r.job_id, r.hyperparameters, r.metrics, r.training}));
  return {};
}

/// The living row of the same namespace, name and version, if there is one.
sql::Expected<std::optional<Record>> in_the_way(Session& session, const Record& record) {
  auto rows = TRY(works(session.run(select("WHERE lower(a.namespace) = lower($1) AND lower(a.name) = lower($2) AND "
                                           "a.version = $3 AND a.deleted_at = ''"),
                                    {record.name_space, record.name, record.version})));
  if (rows.empty()) return std::nullopt;
  return std::move(rows.front().record);
}

sql::Expected<void> bury_in(Session& session, std::string_view id) {
  const auto next = TRY(next_change(session));
  const std::string now = timestamp();
  TRY(session.run("UPDATE adapter SET changed = $1, updated_at = $2, deleted_at = $2 WHERE id = $3",
                  {next, now, std::string(id)}));
  return {};
}

}  // namespace rows_detail

sql::Expected<std::vector<Record>> read_changed(sql::Database& database, std::int64_t from) {
  namespace d = rows_detail;
  auto rows = TRY(from < 0 ? d::works(database.run(d::select("WHERE a.deleted_at = ''")))
                           : d::works(database.run(d::select("WHERE a.changed > $1"), {from})));
  std::vector<Record> out;
  out.reserve(rows.size());
  for (Work& work : rows) out.push_back(std::move(work.record));
  return out;
}

sql::Expected<Inserted> insert_adapter(sql::Database& database, const Record& record,
                                       const std::vector<StoredFile>& files, const Lease& lease) {
  namespace d = rows_detail;
  Inserted out;
  const auto attempt = [&] {
    return database.transact([&](sql::Session& session) -> sql::Expected<void> {
      out = {};
      auto other = TRY(d::in_the_way(session, record));
      if (other && other->status != Status::failed) {
        out = {Inserted::Outcome::exists, std::move(*other)};
        return {};
      }
      if (other) TRY(d::bury_in(session, other->id));
      return d::insert_all(session, record, files, lease);
    });
  };
  auto done = attempt();
  // Two uploads of one version at once: the index let one pass, and the other sees it now.
  if (!done && done.error().fault == sql::Fault::duplicate) done = attempt();
  if (!done) return std::unexpected(done.error());
  return out;
}

sql::Expected<std::optional<Work>> read_work(sql::Database& database, std::string_view id) {
  auto rows = TRY(rows_detail::works(database.run(rows_detail::select("WHERE a.id = $1"), {std::string(id)})));
  if (rows.empty()) return std::nullopt;
  return std::move(rows.front());
}

sql::Expected<std::vector<Work>> read_uploading(sql::Database& database) {
  return rows_detail::works(database.run(
      rows_detail::select("WHERE a.status = 'uploading' AND a.deleted_at = '' ORDER BY a.created_at, a.id")));
}

sql::Expected<std::vector<Work>> read_unpurged(sql::Database& database) {
  return rows_detail::works(database.run(rows_detail::select(
      "WHERE a.purged = 0 AND (a.deleted_at <> '' OR a.status = 'failed') ORDER BY a.created_at, a.id")));
}

sql::Expected<std::vector<StoredFile>> read_files(sql::Database& database, std::string_view id) {
  const auto result = TRY(database.run(
      "SELECT path, size, sha256, large FROM adapter_file WHERE adapter_id = $1 ORDER BY path", {std::string(id)}));
  std::vector<StoredFile> out;
  out.reserve(result.rows.size());
  for (const sql::Row& row : result.rows)
    out.push_back({row.text(0), static_cast<std::uint64_t>(row.integer(1)), row.text(2), row.integer(3) != 0});
  return out;
}

sql::Expected<bool> note_step(sql::Database& database, std::string_view id, std::string_view step,
                              std::string_view commit, const Lease& lease) {
  const auto result = TRY(database.run(
      fmt::format("UPDATE adapter SET step = $1, commit_sha = $2, lease_until = {} + $3 WHERE id = $4 AND owner = $5 "
                  "AND status = 'uploading' AND deleted_at = ''",
                  sql::now_seconds(database.engine())),
      {std::string(step), std::string(commit), lease.seconds, std::string(id), lease.owner}));
  return result.affected > 0;
}

sql::Expected<void> renew_lease(sql::Database& database, std::string_view id, const Lease& lease) {
  TRY(database.run(fmt::format("UPDATE adapter SET lease_until = {} + $1 WHERE id = $2 AND owner = $3 AND "
                               "status = 'uploading'",
                               sql::now_seconds(database.engine())),
                   {lease.seconds, std::string(id), lease.owner}));
  return {};
}

sql::Expected<bool> take_over(sql::Database& database, const Work& work, const Lease& lease) {
  const auto now = sql::now_seconds(database.engine());
  const auto result = TRY(
      database.run(fmt::format("UPDATE adapter SET owner = $1, lease_until = {0} + $2 WHERE id = $3 AND owner = $4 AND "
                               "lease_until = $5 AND status = 'uploading' AND (lease_until < {0} OR owner = $1)",
                               now),
                   {lease.owner, lease.seconds, work.record.id, work.owner, work.lease_until}));
  return result.affected > 0;
}

sql::Expected<bool> move_status(sql::Database& database, std::string_view id, Status from, Status to,
                                std::string_view reason) {
  return rows_detail::change(
      database, "status = $3, reason = $4", "id = $5 AND status = $6 AND deleted_at = ''",
      {std::string(to_string(to)), std::string(reason), std::string(id), std::string(to_string(from))});
}

sql::Expected<bool> mark_deleted(sql::Database& database, std::string_view id) {
  return rows_detail::change(database, "deleted_at = $2", "id = $3 AND deleted_at = ''", {std::string(id)});
}

sql::Expected<void> set_purged(sql::Database& database, std::string_view id) {
  TRY(database.run("UPDATE adapter SET purged = 1 WHERE id = $1", {std::string(id)}));
  return {};
}

sql::Expected<Usage> usage_of(sql::Database& database, const Record& record) {
  const auto result = TRY(database.run(
      "SELECT version FROM adapter WHERE lower(repository) = lower($1) AND id <> $2 AND deleted_at = '' AND status <> "
      "'failed'",
      {record.repository, record.id}));
  Usage out{.repository = !result.rows.empty()};
  for (const sql::Row& row : result.rows) out.version = out.version || row.text(0) == record.version;
  return out;
}

sql::Expected<bool> lease_repository(sql::Database& database, std::string_view repository, const Lease& lease) {
  const auto now = sql::now_seconds(database.engine());
  const auto result = TRY(database.run(
      fmt::format(
          "INSERT INTO repository_lease (repository, owner, lease_until) VALUES (lower($1), $2, {0} + $3) ON "
          "CONFLICT (repository) DO UPDATE SET owner = excluded.owner, lease_until = excluded.lease_until WHERE "
          "repository_lease.lease_until < {0}",
          now),
      {std::string(repository), lease.owner, lease.seconds}));
  return result.affected > 0;
}

sql::Expected<void> release_repository(sql::Database& database, std::string_view repository, const Lease& lease) {
  TRY(database.run("DELETE FROM repository_lease WHERE repository = lower($1) AND owner = $2",
                   {std::string(repository), lease.owner}));
  return {};
}

sql::Expected<void> forget_leases(sql::Database& database, std::string_view prefix) {
  TRY(database.run(fmt::format("DELETE FROM repository_lease WHERE substr(owner, 1, {}) = $1 OR lease_until < {}",
                               prefix.size(), sql::now_seconds(database.engine())),
                   {std::string(prefix)}));
  return {};
}

sql::Expected<void> note_made(sql::Database& database, std::string_view repository) {
  TRY(database.run("INSERT INTO made_repository (name) VALUES (lower($1)) ON CONFLICT (name) DO NOTHING",
                   {std::string(repository)}));
  return {};
}

sql::Expected<void> forget_made(sql::Database& database, std::string_view repository) {
  TRY(database.run("DELETE FROM made_repository WHERE name = lower($1)", {std::string(repository)}));
  return {};
}

sql::Expected<bool> is_known(sql::Database& database, std::string_view repository) {
  // A row that is merely accepted has put nothing there yet. The others are of before repositories were noted.
  const auto result = TRY(database.run(
      "SELECT 1 FROM made_repository WHERE name = lower($1) UNION ALL SELECT 1 FROM adapter WHERE lower(repository) = "
      "lower($1) AND purged = 0 AND (step <> 'accepted' OR commit_sha <> '')",
      {std::string(repository)}));
  return !result.rows.empty();
}

sql::Expected<std::optional<std::string>> find_setting(sql::Database& database, std::string_view name) {
  const auto got = TRY(database.run("SELECT value FROM setting WHERE name = $1", {std::string(name)}));
  return got.rows.empty() ? std::nullopt : std::optional(got.rows[0].text(0));
}

sql::Expected<std::string> shared_setting(sql::Database& database, std::string_view name, std::string_view proposal) {
  TRY(database.run("INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
                   {std::string(name), std::string(proposal)}));
  if (auto got = TRY(find_setting(database, name))) return *std::move(got);
  return std::unexpected(sql::SqlError{sql::Fault::broken, "a setting has vanished", {}});
}

sql::Expected<std::string> SharedSetting::get() {
  {
    const std::lock_guard lock(mutex_);
    if (!value_.empty()) return value_;
  }
  auto got = TRY(shared_setting(database_, name_, crypto::random_hex(bytes_)));
  const std::lock_guard lock(mutex_);
  return value_ = std::move(got);
}

}  // namespace stackgate::entitystore
