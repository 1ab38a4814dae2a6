// Who may do what with a repository. Pure: one table for Git, LFS, all APIs and the pages.
#pragma once
#include <cstdint>

#include "services/datastore/accounts/identity.hpp"
#include "services/datastore/repositories/record.hpp"

namespace stackgate::datastore {

enum class Action : std::uint8_t { read, write, administer };

enum class Verdict : std::uint8_t {
  allowed,
  sign_in,    // 401: nobody is signed in, and signing in may help. Also for what does not exist, so that names do not leak
  forbidden,  // 403: seen, but not changed
  hidden,     // 404: a private repository of others, or none at all
};

/// `repository` is null when there is none of that name.
Verdict judge(const Identity& identity, const Repository* repository, Action action);

}  // namespace stackgate::datastore
