#include "services/datastore/repositories/repositories.hpp"

#include <chrono>
#include <utility>

#include "services/datastore/accounts/names.hpp"
#include "services/datastore/git/write.hpp"
#include "services/datastore/repositories/folders.hpp"
#include "services/datastore/repositories/rows.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::datastore {
namespace {

using Fault = ServiceFault;

std::string time_now() { return to_rfc3339(std::chrono::system_clock::now()); }

std::string select(std::string_view rest) {
  return std::string("SELECT ").append(repository_columns).append(repository_tables).append(rest);
}

std::optional<std::string> fault_of_description(std::string_view text) {
  if (text.size() > 2048) return "the description has more than 2,048 bytes";
  if (text.contains('\0')) return "the description holds a NUL";
  return std::nullopt;
}

ServiceError of_git(const git::GitError& error) {
  if (error.fault == git::Fault::full) return {Fault::full, "no space is left on the data volume"};
  if (error.fault == git::Fault::invalid) return {Fault::invalid, error.message};
  log::error("a repository's folder cannot be made", {{"cause", error.message}});
  return {Fault::broken, "the repository's folder cannot be made; the server's log says why"};
}

ServiceError of_sql(const sql::SqlError& error) {
  if (error.fault == sql::Fault::duplicate) return {Fault::exists, "a repository of that name exists"};
  return error;
}

}  // namespace

Repositories::Repositories(sql::Database& database, std::string data) : database_(database), data_(std::move(data)) {}

std::string Repositories::path(std::int64_t id) const { return folders::path_of(data_, id); }

Repositories::Expected<Repository> Repositories::find(std::string_view owner, std::string_view name) {
  if (name.ends_with(".git")) name.remove_suffix(4);
  const std::vector<sql::Value> keys = {ascii::to_lower(owner), ascii::to_lower(name)};
  auto found = database_.run(select("WHERE a.name_key = $1 AND r.name_key = $2"), keys);
  if (found && found->rows.empty())
    found = database_.run(select("JOIN repository_redirects d ON d.repository_id = r.id "
                                 "JOIN accounts o ON o.id = d.owner_id WHERE o.name_key = $1 AND d.name_key = $2"),
                          keys);
  if (!found) return std::unexpected(found.error());
  if (found->rows.empty()) return refused(Fault::missing, "there is no such repository");
  return repository_of(found->rows.front());
}

Repositories::Expected<Repository> Repositories::find(std::int64_t id) {
  auto found = TRY(database_.run(select("WHERE r.id = $1"), {id}));
  if (found.rows.empty()) return refused(Fault::missing, "there is no such repository");
  return repository_of(found.rows.front());
}

Repositories::Expected<void> Repositories::each(const std::function<bool(const Repository&)>& visit) {
  for (std::int64_t after = 0;;) {
    auto found = TRY(database_.run(select("WHERE r.id > $1 ORDER BY r.id LIMIT 500"), {after}));
    if (found.rows.empty()) return {};
    for (const sql::Row& row : found.rows) {
      const Repository repository = repository_of(row);
      after = repository.id;
      if (!visit(repository)) return {};
    }
  }
}

Repositories::Expected<Repository> Repositories::create(const NewRepository& wanted) {
  if (auto fault = fault_of_repository_name(wanted.name)) return refused(Fault::invalid, *fault);
  if (auto fault = fault_of_description(wanted.description)) return refused(Fault::invalid, *fault);
  const std::string key = ascii::to_lower(wanted.name);
  auto known =
      TRY(database_.run("SELECT id FROM repositories WHERE owner_id = $1 AND name_key = $2", {wanted.owner_id, key}));
  if (!known.rows.empty()) return refused(Fault::exists, "a repository of that name exists");

  // The folder comes first: a record without one would be seen, a folder without a record is swept. A database restored
  // from a backup may give ids anew whose folders still lie here: those are passed over.
  std::int64_t id = 0;
  for (int attempt = 0;; ++attempt) {
    auto next = TRY(database_.run("UPDATE repository_ids SET last = last + 1 RETURNING last"));
    id = next.rows.at(0).integer(0);
    TRY(folders::make_parent(data_, id));
    auto made = git::create_repository(path(id), wanted.default_branch);
    if (made) break;
    if (made.error().fault != git::Fault::exists || attempt == 100) return std::unexpected(of_git(made.error()));
  }
  const std::string time = time_now();
  auto recorded = database_.transact([&](sql::Session& session) -> sql::Expected<void> {
    TRY(session.run(
        "INSERT INTO repositories (id, owner_id, name, name_key, type, description, is_private, default_branch, "
        "created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)",
        {id, wanted.owner_id, wanted.name, key, type_value(wanted.type), wanted.description,
         std::int64_t{wanted.is_private ? 1 : 0}, wanted.default_branch, time}));
    TRY(session.run("DELETE FROM repository_redirects WHERE owner_id = $1 AND name_key = $2", {wanted.owner_id, key}));
    return {};
  });
  if (!recorded) {
    // Of a connection that broke nobody knows whether the record was written: then the sweep decides.
    if (recorded.error().fault == sql::Fault::duplicate || recorded.error().fault == sql::Fault::refers)
      folders::to_trash(data_, id);
    if (recorded.error().fault == sql::Fault::refers) return refused(Fault::missing, "the owner does not exist");
    return std::unexpected(of_sql(recorded.error()));
  }
  return find(id);
}

Repositories::Expected<Repository> Repositories::update(std::int64_t id, const RepositoryChange& change) {
  if (change.name)
    if (auto fault = fault_of_repository_name(*change.name)) return refused(Fault::invalid, *fault);
  if (change.description)
    if (auto fault = fault_of_description(*change.description)) return refused(Fault::invalid, *fault);
  bool gone = false;
  auto done = database_.transact([&](sql::Session& session) -> sql::Expected<void> {
    const bool locks = session.engine() == sql::Engine::postgresql;
    auto found = TRY(session.run(select("WHERE r.id = $1") + (locks ? " FOR UPDATE OF r" : ""), {id}));
    gone = found.rows.empty();
    if (gone) return {};
    const Repository old = repository_of(found.rows.front());
    Repository now = old;
    if (change.name) now.name = *change.name;
    if (change.owner_id) now.owner_id = *change.owner_id;
    if (change.description) now.description = *change.description;
    if (change.is_private) now.is_private = *change.is_private;
    if (change.archived) now.archived = *change.archived;
    if (change.default_branch) now.default_branch = *change.default_branch;
    const std::string old_key = ascii::to_lower(old.name), new_key = ascii::to_lower(now.name);
    TRY(session.run(
        "UPDATE repositories SET owner_id = $1, name = $2, name_key = $3, description = $4, is_private = $5, "
        "is_archived = $6, default_branch = $7, updated_at = $8 WHERE id = $9",
        {now.owner_id, now.name, new_key, now.description, std::int64_t{now.is_private ? 1 : 0},
         std::int64_t{now.archived ? 1 : 0}, now.default_branch, time_now(), id}));
    if (old_key == new_key && old.owner_id == now.owner_id) return {};
    TRY(session.run("DELETE FROM repository_redirects WHERE owner_id = $1 AND name_key = $2", {now.owner_id, new_key}));
    TRY(
        session.run("INSERT INTO repository_redirects (owner_id, name_key, repository_id) VALUES ($1, $2, $3) "
                    "ON CONFLICT (owner_id, name_key) DO UPDATE SET repository_id = excluded.repository_id",
                    {old.owner_id, old_key, id}));
    return {};
  });
  if (!done && done.error().fault == sql::Fault::refers) return refused(Fault::missing, "the new owner does not exist");
  if (!done) return std::unexpected(of_sql(done.error()));
  if (gone) return refused(Fault::missing, "there is no such repository");
  return find(id);
}

Repositories::Expected<void> Repositories::remove(std::int64_t id) {
  auto done = TRY(database_.run("DELETE FROM repositories WHERE id = $1", {id}));
  if (done.affected == 0) return refused(Fault::missing, "there is no such repository");
  folders::to_trash(data_, id);
  return {};
}

Repositories::Expected<void> Repositories::touch(std::int64_t id, std::optional<std::uint64_t> size) {
  const std::string time = time_now();
  (void)TRY(size ? database_.run("UPDATE repositories SET updated_at = $1, size = $2, measured_at = $1 WHERE id = $3",
                                 {time, static_cast<std::int64_t>(*size), id})
                 : database_.run("UPDATE repositories SET updated_at = $1 WHERE id = $2", {time, id}));
  return {};
}

}  // namespace stackgate::datastore
