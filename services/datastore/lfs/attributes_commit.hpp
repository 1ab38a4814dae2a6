// .gitattributes in commits that bring large files, whichever API they come by.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "services/datastore/backend.hpp"
#include "services/datastore/git/write.hpp"
#include "services/datastore/repositories/record.hpp"

namespace stackgate::datastore::lfs {

inline constexpr std::string_view attributes_path = ".gitattributes";

/// A text file of a commit; nothing when there is none, or it has more than 1 MiB.
std::optional<std::string> text_at(git::Repository& git, const git::Oid& commit, std::string_view path);

/// `attributes` with a line for each path of `large` that they do not keep in LFS.
std::string attributes_for(const std::string& attributes, const std::set<std::string>& large);

/// Two commits at once, and the other one changed .gitattributes under ours, which began from `seen`: its lines and
/// ours, in a commit more. What goes wrong is logged.
void settle_attributes(const Backend& backend, const Repository& repository, git::CommitRequest request,
                       const git::Committed& done, const std::string& seen, const std::set<std::string>& large);

}  // namespace stackgate::datastore::lfs
