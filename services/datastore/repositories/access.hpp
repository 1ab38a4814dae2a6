// Who may do what with a repository. Pure: one table for Git, LFS, all APIs and the pages.
#pragma once
#include <cstdint>

#include "services/datastore/accounts/identity.hpp"
#include "services/datastore/repositories/record.hpp"

namespace stackgate::datastore {

enum class Action : std::uint8_t { read, write, administer };

enum class Verdict : std::uint8_t {
  allowed,
  sign_in,    // 401: nobody is signed in, and signing in may help. Also for what does not exist, so that names do not
              // leak
  forbidden,  // 403: seen, but not changed
  hidden,     // 404: a private repository of others, or none at all
};

/// `repository` is null when there is none of that name. Without `anonymous_read` nobody reads who has not signed in.
Verdict judge(const Identity& identity, const Repository* repository, Action action, bool anonymous_read = true);
/// Repositories in this account's name space: itself, its steward, administrators. The scope of a token is asked apart.
bool may_create_in(const Identity& identity, std::int64_t owner_id, std::int64_t steward_id);

}  // namespace stackgate::datastore
