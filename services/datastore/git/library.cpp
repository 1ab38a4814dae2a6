#include "services/datastore/git/library.hpp"

#include <cerrno>
#include <cstring>
#include <mutex>

#include <fmt/format.h>

#include "services/kit/base/out_of_space.hpp"
#include "services/kit/files/file.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::datastore::git {

GitError::operator ServiceError() const {
  switch (fault) {
    case Fault::missing:
      return {ServiceFault::missing, message};
    case Fault::invalid:
      return {ServiceFault::invalid, message};
    case Fault::conflict:
    case Fault::exists:
      return {ServiceFault::exists, message};
    case Fault::too_large:
      return {ServiceFault::too_large, message};
    case Fault::full:
    case Fault::broken:
      break;
  }
  log::error("git failed", {{"cause", message}});
  if (fault == Fault::full) return {ServiceFault::full, "no space is left on the data volume"};
  return {ServiceFault::broken, "the repository cannot be read; the server's log says why"};
}

void prepare_library() {
  static std::once_flag once;
  std::call_once(once, [] {
    git_libgit2_init();
    for (const int level :
         {GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL})
      git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, level, "");
    git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);  // the path comes from a record, never from a client
    git_libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE, static_cast<ssize_t>(8) << 20);
    git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
  });
}

std::unexpected<GitError> library_error(int code, std::string_view what) {
  const ::git_error* last = git_error_last();
  const std::string_view reason = last != nullptr && last->message != nullptr ? last->message : "unknown fault";
  Fault fault = Fault::broken;
  switch (code) {
    case GIT_ENOTFOUND:
      fault = Fault::missing;
      break;
    case GIT_EEXISTS:
      fault = Fault::exists;
      break;
    case GIT_EINVALIDSPEC:
    case GIT_EAMBIGUOUS:
      fault = Fault::invalid;
      break;
    case GIT_ELOCKED:
    case GIT_EMODIFIED:
      fault = Fault::conflict;
      break;
    default:
      if (reports_out_of_space(reason)) fault = Fault::full;
  }
  return git_error_of(fault, fmt::format("{}: {}", what, reason));
}

std::unexpected<GitError> system_error(int number, std::string_view what) {
  const Fault fault = is_out_of_space(number) ? Fault::full : number == ENOENT ? Fault::missing : Fault::broken;
  return git_error_of(fault, fmt::format("{}: {}", what, std::strerror(number)));
}

Expected<std::string> read_file(const std::string& path, std::uint64_t most) {
  auto text = files::read_file(path, most);
  if (!text) return system_error(text.error(), path);
  return std::move(*text);
}

Oid to_oid(const git_oid& oid) {
  Oid out(GIT_OID_HEXSZ, '0');
  git_oid_fmt(out.data(), &oid);
  return out;
}

bool from_oid(std::string_view text, git_oid& out) {
  return text.size() == GIT_OID_HEXSZ && git_oid_fromstrn(&out, text.data(), text.size()) == 0;
}

Expected<RepositoryHandle> open_handle(const std::string& path) {
  prepare_library();
  git_repository* raw = nullptr;
  const int code = git_repository_open_ext(
      &raw, path.c_str(), GIT_REPOSITORY_OPEN_NO_SEARCH | GIT_REPOSITORY_OPEN_BARE | GIT_REPOSITORY_OPEN_NO_DOTGIT,
      nullptr);
  if (code != 0) {
    // Who asks for it knows of it from its record: a folder that is not there is our fault, not a wrong name.
    GitError error = library_error(code, fmt::format("repository {} cannot be opened", path)).error();
    if (error.fault != Fault::full) error.fault = Fault::broken;
    return std::unexpected(std::move(error));
  }
  return RepositoryHandle(raw);
}

Expected<OdbHandle> open_objects(git_repository* repository) {
  git_odb* raw = nullptr;
  if (const int code = git_repository_odb(&raw, repository); code != 0)
    return library_error(code, "objects cannot be opened");
  return OdbHandle(raw);
}

Expected<git_oid> commit_id(std::string_view text) {
  git_oid id;
  if (!from_oid(text, id)) return git_error_of(Fault::invalid, fmt::format("\"{}\" is no commit id", text));
  return id;
}

Expected<CommitHandle> lookup_commit(git_repository* repository, const git_oid& id) {
  git_commit* raw = nullptr;
  if (const int code = git_commit_lookup(&raw, repository, &id); code != 0)
    return library_error(code, fmt::format("commit {}", to_oid(id)));
  return CommitHandle(raw);
}

Expected<TreeHandle> lookup_tree(git_repository* repository, const git_oid& id) {
  git_tree* raw = nullptr;
  if (const int code = git_tree_lookup(&raw, repository, &id); code != 0)
    return library_error(code, fmt::format("tree {}", to_oid(id)));
  return TreeHandle(raw);
}

TreeEntryHandle entry_at(const git_tree* tree, const std::string& path) {
  git_tree_entry* raw = nullptr;
  return TreeEntryHandle(git_tree_entry_bypath(&raw, tree, path.c_str()) == 0 ? raw : nullptr);
}

}  // namespace stackgate::datastore::git
