// Gitea's objects as JSON, member names exactly as its API has them (modules/structs of Gitea 1.22). Each writes an
// object; nothing here reads a database or a repository.
#pragma once
#include <string_view>

#include "services/datastore/accounts/accounts.hpp"
#include "services/datastore/git/objects.hpp"
#include "services/datastore/repositories/record.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::datastore::gitea {

struct Shape {
  json::Writer& writer;
  std::string base;  // the server's URL, without a final '/'
  Identity viewer{};

  void user(const Account& account) const;
  void organization(const Account& account) const;
  /// `with_secret`: once, in the answer to its making.
  void token(const Token& token, std::string_view secret = {}) const;
  /// `empty`: it has no branch yet.
  void repository(const Repository& repository, const Account& owner, bool empty) const;
  /// As lists of commits have it.
  void commit(const Repository& repository, const git::Commit& commit) const;
  void branch(const Repository& repository, std::string_view name, const git::Commit& commit) const;
  void tag(const Repository& repository, const git::Ref& ref, const git::Commit& commit) const;
  /// One entry of contents; `content` in base64 for a file that was asked for by itself.
  void entry(const Repository& repository, const git::Entry& entry, std::string_view revision,
             std::string_view last_commit, const std::string* content) const;
  /// As git/blobs has it.
  void blob(const Repository& repository, std::string_view oid, std::string_view bytes) const;
  void tree_entry(const Repository& repository, const git::Entry& entry) const;

  std::string api(const Repository& repository) const;
};

std::string_view mode_of(git::EntryKind kind);  // "100644"
std::string time_of(const git::Signature& signature);

}  // namespace stackgate::datastore::gitea
