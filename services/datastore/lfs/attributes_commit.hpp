// .gitattributes in commits that bring large files, whichever API they come by.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "services/datastore/backend.hpp"
#include "services/datastore/git/write.hpp"
#include "services/datastore/lfs/attributes.hpp"
#include "services/datastore/repositories/record.hpp"

namespace stackgate::datastore::lfs {

inline constexpr std::string_view attributes_path = ".gitattributes";

/// A text file of a commit; nothing when there is none, or it has more than 1 MiB.
std::optional<std::string> text_at(git::Repository& git, const git::Oid& commit, std::string_view path);

/// What one commit makes of the attributes.
class CommitAttributes {
 public:
  /// From `tip`; empty: from nothing.
  CommitAttributes(git::Repository& git, const git::Oid& tip);
  Attributes now() const { return Attributes::parse(text_); }
  /// The commit has this file, as it is or (`large`) as a pointer.
  void add(const git::Change& file, bool large);
  /// The commit's last change: a line for each large file that is not kept in LFS yet.
  std::optional<git::Change> change() const;
  /// Two commits at once, and the other one changed .gitattributes under ours: its lines and ours, in a commit more.
  /// What goes wrong is logged.
  void settle(const Backend& backend, const Repository& repository, git::CommitRequest request,
              const git::Committed& done) const;

 private:
  const std::string seen_;  // as the commit began
  std::string text_;
  std::set<std::string> large_;
};

}  // namespace stackgate::datastore::lfs
