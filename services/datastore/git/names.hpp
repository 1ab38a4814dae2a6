// Which paths a tree and which names a reference may have. Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace stackgate::datastore::git {

/// A path that any checkout may write: relative, '/' between segments, at most 4,096 bytes, no empty, "." or ".."
/// segment, no control character, no backslash, no segment that some file system takes for ".git" (".GIT", "git~1",
/// ".git " or ".git::$INDEX_ALLOCATION" on NTFS, ".g\u200cit" on HFS+). Nothing, or what is wrong with it.
std::optional<std::string> fault_of_path(std::string_view path);

/// Whether some file system takes this one segment for ".git".
bool means_dot_git(std::string_view segment);

/// git-check-ref-format(1) for the whole of "refs/heads/x".
bool is_reference_name(std::string_view name);
/// For what follows refs/heads/ or refs/tags/: is_reference_name, not beginning with '-', not "HEAD", not 40 hex digits
/// (they would hide a commit), at most 240 bytes. Nothing, or what is wrong.
std::optional<std::string> fault_of_branch_name(std::string_view name);

bool is_oid(std::string_view text);  // 40 lower-case hex digits

/// The last segment of a path.
inline std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace stackgate::datastore::git
