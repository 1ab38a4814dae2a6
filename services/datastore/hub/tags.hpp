// The tags of a repository's card, remembered by the README's content. Thread-safe.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "services/datastore/git/objects.hpp"
#include "services/datastore/repositories/record.hpp"

namespace stackgate::datastore::hub {

using Tags = std::shared_ptr<const std::vector<std::string>>;

/// Never null. Empty without a README.md, and for one of more than 1 MiB.
Tags tags_at(git::Repository& git, const git::Oid& commit, RepositoryType type);

}  // namespace stackgate::datastore::hub
