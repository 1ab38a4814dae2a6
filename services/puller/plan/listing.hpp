// What sources answer: which commit a revision is, the tree of a commit, a list of checksums. All of it comes from
// outside; what is returned has passed check_listing(). Pure and thread-safe.
// Sources: huggingface.co/docs/hub/api (tree, revision), coreutils' sha256sum(1).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "services/puller/plan/files.hpp"

namespace stackgate::puller {

/// "sha" of the answer about a model or one of its revisions: 40 hex digits.
Result<std::string> read_revision(std::string_view body);

/// One page of a tree; not yet checked as a whole.
Result<std::vector<RemoteFile>> read_tree_page(std::string_view body);

/// Lines of sha256sum: 64 hex digits, a blank, a blank or '*', the path; empty lines and those that begin with '#' are
/// left out. "./" before a path is, too. Sizes are not known.
Result<std::vector<RemoteFile>> read_checksum_list(std::string_view text);

/// "NAME" or "OWNER/NAME" of letters, digits, '-', '_' and '.', with "@REVISION" behind it or not.
struct Model {
  std::string repository;
  std::string revision;  // empty: the default branch
};
Result<Model> read_model(std::string_view text);

/// STACKGATE_PULL_PROFILES, a JSON list of texts, as the one model that it names; nothing of an empty text.
Result<std::string> read_profiles(std::string_view text);

}  // namespace stackgate::puller
