// From a call to a repository of the right type, and a revision in it: what every handler here begins with.
#pragma once
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/datastore/backend.hpp"
#include "services/datastore/git/objects.hpp"
#include "services/datastore/guard/guard.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::datastore::hub {

/// Words of X-Error-Code that clients look for.
inline constexpr std::string_view repo_not_found = "RepoNotFound";
inline constexpr std::string_view revision_not_found = "RevisionNotFound";
inline constexpr std::string_view entry_not_found = "EntryNotFound";

http::Response json_answer(std::string body, web::Headers headers = {});
web::Failure bad_request(std::string message);

struct Place {
  Repository repository;
  Identity identity;
  RepositoryType type;  // as the path says
  std::string base;     // "https://host"

  /// "https://host/v1/hf/datasets/owner/name"
  std::string url() const;
  std::string hub() const { return base + "/v1/hf"; }
};

/// Parameters "owner" and "name". 404 RepoNotFound for a repository of another type.
std::expected<Place, web::Failure> enter(const Backend& backend, web::Call& call, RepositoryType type, Action action);

struct Opened {
  std::unique_ptr<git::Repository> git;
  git::Oid commit{};   // empty: nothing has been committed yet, and the default branch was asked for
  bool fixed = false;  // the revision was a commit id: the answer never changes
};
std::expected<std::unique_ptr<git::Repository>, web::Failure> open_git(const Backend& backend, const Place& place);
/// 404 RevisionNotFound. A repository without any commit answers for the branches that clients ask for unasked.
std::expected<Opened, web::Failure> open_at(const Backend& backend, const Place& place, std::string_view revision);

/// The same for "{revision}/{path…}" where a client did not escape the slashes of the revision: the shortest beginning
/// that names one. `path` becomes what is left.
std::expected<Opened, web::Failure> open_within(const Backend& backend, const Place& place, std::string_view revision,
                                                std::string& path);

/// With the code that clients look for.
web::Failure entry_failure(const git::GitError& error);

/// Now, as the account that is signed in.
git::Signature signature_of(const Backend& backend, const Identity& identity);

}  // namespace stackgate::datastore::hub
