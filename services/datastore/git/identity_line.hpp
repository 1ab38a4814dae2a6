// A person and a moment as commits and tags write them. Pure.
#pragma once
#include <string>

#include "services/datastore/git/objects.hpp"

namespace stackgate::datastore::git {

/// "Name <email> seconds +hhmm"; what such a line cannot hold is dropped, as git itself does.
std::string format_identity(const Signature& who);

}  // namespace stackgate::datastore::git
