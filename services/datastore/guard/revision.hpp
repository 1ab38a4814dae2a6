// A repository opened at a revision, the same for every API. What a revision that names nothing means is each API's
// own.
#pragma once
#include <expected>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "services/datastore/accounts/identity.hpp"
#include "services/datastore/backend.hpp"
#include "services/datastore/git/write.hpp"
#include "services/datastore/repositories/record.hpp"

namespace stackgate::datastore {

struct RepositoryAtRevision {
  std::unique_ptr<git::Repository> git{};
  std::string revision{};  // that was found: a branch, a tag, a commit
  std::string path{};      // what is left of the path that was asked for
  git::Oid commit{};       // empty: nothing has been committed there
};

/// Failures are logged, and worded for clients.
std::expected<std::unique_ptr<git::Repository>, ServiceError> open_git(const Backend& backend,
                                                                       const Repository& repository);

/// At `revision`; empty is the default branch, which may be unborn, and so may `unborn` in a repository without any
/// branch. Where "revision" names nothing, the shortest beginning of "revision/path" that does is meant: clients do
/// not always escape the slashes of a branch. Fault::missing and Fault::invalid: there is no such revision.
git::Expected<RepositoryAtRevision> open_revision(const Backend& backend, const Repository& repository,
                                                  std::string_view revision, std::string_view path = {},
                                                  std::initializer_list<std::string_view> unborn = {});

/// Whether the request named something that is not there, rather than that reading failed.
bool names_nothing(const git::GitError& error);

/// Now, as this account.
git::Signature signature_of(const Backend& backend, const Identity& identity);

/// After a commit: the record's time of change. What goes wrong is logged.
void note_change(const Backend& backend, const Repository& repository);

/// A README.md with name and description: the first commit of a repository that was made with one.
git::Expected<git::Committed> commit_readme(const Backend& backend, const Identity& identity,
                                            const Repository& repository);

}  // namespace stackgate::datastore
