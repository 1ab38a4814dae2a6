// JSON as Hugging Face clients read it. Pure: values in, text out.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/datastore/accounts/accounts.hpp"
#include "services/datastore/git/objects.hpp"
#include "services/datastore/repositories/record.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::datastore::hub {

/// "models", "datasets", "spaces".
std::string plural(RepositoryType type);
/// What stands before "owner/name" in a web address: "", "datasets/", "spaces/".
std::string prefix(RepositoryType type);

/// "2026-01-02T03:04:05.000Z"
std::string format_date(std::int64_t seconds);
/// A record's RFC 3339 time ("2026-01-02T03:04:05Z") the same way: Python clients before 0.27 read no date without a
/// fraction.
std::string format_date(std::string_view time);

std::string whoami(const Account& account, Scope scope, const std::vector<Account>& organizations);

/// One commit as it stands beside a file.
struct LastCommit {
  std::string id, title;
  std::int64_t seconds = 0;
};
void write_entry(json::Writer& w, const git::Entry& entry, const LastCommit* last);

struct Info {
  const Repository& repository;
  RepositoryType type;
  std::string sha{};                                  // empty: nothing has been committed
  std::int64_t modified = 0;                          // of that commit
  const std::vector<git::Entry>* siblings = nullptr;  // null: not asked for
  bool blobs = false;                                 // with sizes and ids
  const std::vector<std::string>* tags = nullptr;     // of its card; null: none were looked for
};
void write_info(json::Writer& w, const Info& info);

/// title: the first line; message: what follows it.
void write_commit(json::Writer& w, const git::Commit& commit);
std::string refs(std::span<const git::Ref> all, bool with_pull_requests);

struct Committed {
  std::string oid, url;
};
std::string committed(const Committed& commit);
/// Of a repository that was made, or was there already (then with `error`).
std::string created(std::string_view url, std::string_view id, std::string_view error = {});

}  // namespace stackgate::datastore::hub
