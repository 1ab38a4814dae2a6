// From a call to a repository of the right type, and a revision in it: what every handler here begins with.
#pragma once
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "services/datastore/backend.hpp"
#include "services/datastore/git/objects.hpp"
#include "services/datastore/guard/guard.hpp"
#include "services/datastore/guard/revision.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/web/call.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::datastore::hub {

using web::json_answer;

/// Words of X-Error-Code that clients look for.
inline constexpr std::string_view repo_not_found = "RepoNotFound";
inline constexpr std::string_view revision_not_found = "RevisionNotFound";
inline constexpr std::string_view entry_not_found = "EntryNotFound";

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

/// 404 RepoNotFound for a repository of another type.
std::optional<web::Failure> check_type(const Repository& repository, RepositoryType type);
/// Parameters "owner" and "name". 404 RepoNotFound for a repository of another type.
std::expected<Place, web::Failure> enter(const Backend& backend, web::Call& call, RepositoryType type, Action action);

/// 404 RevisionNotFound. A repository without any commit answers for the branches that clients ask for unasked. `path`
/// as in open_revision().
std::expected<RepositoryAtRevision, web::Failure> open_at(const Backend& backend, const Place& place,
                                                          std::string_view revision, std::string_view path = {});

/// A flag as Python and JavaScript write it.
inline bool is_true(std::optional<std::string_view> text) {
  return text && (*text == "true" || *text == "True" || *text == "1");
}

/// With the code that clients look for.
web::Failure entry_failure(const git::GitError& error);

}  // namespace stackgate::datastore::hub
