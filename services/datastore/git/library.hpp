// libgit2's handles with an end, and its errors as ours. Only this folder includes it.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include <git2.h>

#include "services/datastore/git/objects.hpp"
#include "services/kit/base/freed.hpp"

namespace stackgate::datastore::git {

/// Settings for the whole process, once: nothing is read from a home directory or /etc, small caches.
void prepare_library();

using RepositoryHandle = std::unique_ptr<git_repository, Freed<git_repository_free>>;
using OdbHandle = std::unique_ptr<git_odb, Freed<git_odb_free>>;
using OdbObjectHandle = std::unique_ptr<git_odb_object, Freed<git_odb_object_free>>;
using ReferenceHandle = std::unique_ptr<git_reference, Freed<git_reference_free>>;
using ObjectHandle = std::unique_ptr<git_object, Freed<git_object_free>>;
using CommitHandle = std::unique_ptr<git_commit, Freed<git_commit_free>>;
using TreeHandle = std::unique_ptr<git_tree, Freed<git_tree_free>>;
using TreeEntryHandle = std::unique_ptr<git_tree_entry, Freed<git_tree_entry_free>>;
using DiffHandle = std::unique_ptr<git_diff, Freed<git_diff_free>>;
using PatchHandle = std::unique_ptr<git_patch, Freed<git_patch_free>>;

/// What libgit2 said last on this thread, after `what`.
std::unexpected<GitError> library_error(int code, std::string_view what);
inline std::unexpected<GitError> git_error_of(Fault fault, std::string message) {
  return std::unexpected(GitError{fault, std::move(message)});
}
/// From errno: no room is Fault::full, ENOENT is Fault::missing.
std::unexpected<GitError> system_error(int number, std::string_view what);

/// A small file; Fault::missing when there is none, Fault::full beyond `most` bytes.
Expected<std::string> read_file(const std::string& path, std::uint64_t most);

Oid to_oid(const git_oid& oid);
/// False unless `text` is 40 hex digits.
bool from_oid(std::string_view text, git_oid& out);

/// The bare repository at exactly this path, and its objects.
Expected<RepositoryHandle> open_handle(const std::string& path);
Expected<OdbHandle> open_objects(git_repository* repository);

/// Fault::invalid unless `text` is a whole id.
Expected<git_oid> commit_id(std::string_view text);
Expected<CommitHandle> lookup_commit(git_repository* repository, const git_oid& id);
Expected<TreeHandle> lookup_tree(git_repository* repository, const git_oid& id);
/// Null for nothing at that path.
TreeEntryHandle entry_at(const git_tree* tree, const std::string& path);

}  // namespace stackgate::datastore::git
