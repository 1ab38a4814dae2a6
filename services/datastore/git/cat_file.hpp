// A blob too large for memory, in pieces.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "services/datastore/git/objects.hpp"

namespace stackgate::datastore::git {

/// `take` returns false to stop. An error when the blob ended early.
Expected<void> cat_file(const std::string& repository, const Oid& oid,
                        const std::function<bool(std::string_view)>& take);

}  // namespace stackgate::datastore::git
