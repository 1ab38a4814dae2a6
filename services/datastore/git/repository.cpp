#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "services/datastore/git/child.hpp"
#include "services/datastore/git/names.hpp"
#include "services/datastore/git/repository_impl.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore::git {

namespace {

/// `take` returns false to stop. An error when the blob ended early.
Expected<void> cat_file(const std::string& repository, const Oid& oid,
                        const std::function<bool(std::string_view)>& take) {
  auto child = TRY(start_git({{"--git-dir=" + repository, "cat-file", "blob", oid}}));
  child->close_input();
  bool stopped = false;
  const bool whole = child->drain([&](std::string_view piece) {
    stopped = !take(piece);
    return !stopped;
  });
  if (stopped) return {};
  if (!whole || child->wait() != 0)
    return std::unexpected(GitError{Fault::broken, fmt::format("blob {} cannot be read: {}", oid, child->errors())});
  return {};
}

constexpr std::uint64_t streamed_from = 8U << 20U;  // bytes; smaller blobs are read whole

Signature to_signature(const git_signature* from) {
  if (from == nullptr) return {};
  return {from->name, from->email, from->when.time, from->when.offset};
}

Expected<Oid> peel_to_commit(git_object* object, std::string_view revision) {
  git_object* peeled = nullptr;
  if (git_object_peel(&peeled, object, GIT_OBJECT_COMMIT) != 0)
    return git_error_of(Fault::missing, fmt::format("\"{}\" is no commit", revision));
  const ObjectHandle handle(peeled);
  return to_oid(*git_object_id(peeled));
}

}  // namespace

Expected<std::unique_ptr<Repository>> Repository::open(const std::string& path) {
  auto handle = TRY(open_handle(path));
  auto objects = TRY(open_objects(handle.get()));
  return std::unique_ptr<Repository>(
      new Repository(std::unique_ptr<Impl>(new Impl{path, std::move(handle), std::move(objects)})));
}

Repository::Repository(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Repository::~Repository() = default;

Commit to_commit(const git_commit& commit) {
  Commit out;
  out.oid = to_oid(*git_commit_id(&commit));
  out.tree = to_oid(*git_commit_tree_id(&commit));
  for (unsigned i = 0; i < git_commit_parentcount(&commit); ++i)
    out.parents.push_back(to_oid(*git_commit_parent_id(&commit, i)));
  out.author = to_signature(git_commit_author(&commit));
  out.committer = to_signature(git_commit_committer(&commit));
  if (const char* message = git_commit_message(&commit)) out.message = message;
  return out;
}

Expected<std::vector<Ref>> Repository::refs() {
  git_reference_iterator* raw = nullptr;
  if (const int code = git_reference_iterator_new(&raw, impl_->handle.get()); code != 0)
    return library_error(code, "references cannot be listed");
  const std::unique_ptr<git_reference_iterator, Freed<git_reference_iterator_free>> iterator(raw);
  std::vector<Ref> out;
  git_reference* next = nullptr;
  int code = 0;
  while ((code = git_reference_next(&next, iterator.get())) == 0) {
    const ReferenceHandle reference(next);
    const std::string_view name = git_reference_name(next);
    const git_oid* target = git_reference_target(next);
    if (target == nullptr || (!name.starts_with("refs/heads/") && !name.starts_with("refs/tags/"))) continue;
    Ref ref{std::string(name), to_oid(*target), {}};
    if (name.starts_with("refs/tags/")) {
      git_object* peeled = nullptr;
      if (git_reference_peel(&peeled, next, GIT_OBJECT_COMMIT) == 0) {
        const ObjectHandle object(peeled);
        if (git_oid_cmp(git_object_id(peeled), target) != 0) ref.peeled = to_oid(*git_object_id(peeled));
      }
    }
    out.push_back(std::move(ref));
  }
  if (code != GIT_ITEROVER) return library_error(code, "references cannot be listed");
  std::ranges::sort(out, {}, &Ref::name);
  return out;
}

Expected<Oid> Repository::resolve(std::string_view revision) {
  std::vector<std::string> names;
  if (revision == "HEAD") names.emplace_back(revision);
  for (const std::string_view prefix : {"refs/heads/", "refs/tags/", ""}) {
    std::string name = fmt::format("{}{}", prefix, revision);
    if (name.starts_with("refs/") && is_reference_name(name)) names.push_back(std::move(name));
  }
  for (const std::string& name : names) {
    git_reference* raw = nullptr;
    git_object* object = nullptr;
    if (const int code = git_reference_lookup(&raw, impl_->handle.get(), name.c_str()); code != 0) {
      // A file that is there and is no reference, as a crash may leave one: not a name for nothing.
      std::error_code ignored;
      if (code == GIT_ENOTFOUND ||
          !std::filesystem::is_regular_file(fmt::format("{}/{}", impl_->location, name), ignored))
        continue;
      GitError error =
          library_error(code, fmt::format("repository {}: {} cannot be read", impl_->location, name)).error();
      error.fault = Fault::broken;
      return std::unexpected(std::move(error));
    }
    const ReferenceHandle reference(raw);
    if (const int code = git_reference_peel(&object, raw, GIT_OBJECT_ANY); code != 0) {
      if (git_reference_type(raw) == GIT_REFERENCE_SYMBOLIC) continue;  // HEAD of an empty repository
      GitError error =
          library_error(code, fmt::format("repository {}: {} cannot be read", impl_->location, name)).error();
      error.fault = Fault::broken;
      return std::unexpected(std::move(error));
    }
    const ObjectHandle handle(object);
    return peel_to_commit(object, revision);
  }
  const bool hex = std::ranges::all_of(revision, ascii::is_hex);
  git_oid id;
  if (hex && revision.size() >= 7 && revision.size() <= 40 &&
      git_oid_fromstrn(&id, revision.data(), revision.size()) == 0) {
    git_object* object = nullptr;
    const int code = git_object_lookup_prefix(&object, impl_->handle.get(), &id, revision.size(), GIT_OBJECT_ANY);
    if (code == 0) {
      const ObjectHandle handle(object);
      return peel_to_commit(object, revision);
    }
    if (code == GIT_EAMBIGUOUS)
      return git_error_of(Fault::invalid, fmt::format("\"{}\" could mean several objects: give more digits", revision));
  }
  return git_error_of(Fault::missing, fmt::format("there is no branch, tag or commit \"{}\"", revision));
}

Expected<Commit> Repository::commit(const Oid& oid) {
  const auto found = TRY(impl_->commit_at(oid));
  return to_commit(*found);
}

Expected<std::string> Repository::Impl::blob(const Oid& oid, std::uint64_t largest) {
  git_oid id;
  if (!from_oid(oid, id)) return git_error_of(Fault::invalid, fmt::format("\"{}\" is no object id", oid));
  std::size_t size = 0;
  git_object_t type{};
  if (const int code = git_odb_read_header(&size, &type, odb.get(), &id); code != 0)
    return library_error(code, fmt::format("blob {}", oid));
  if (type != GIT_OBJECT_BLOB) return git_error_of(Fault::missing, fmt::format("{} is no file", oid));
  if (size > largest)
    return git_error_of(Fault::too_large, fmt::format("the file has {} bytes, more than {}", size, largest));
  git_odb_object* raw = nullptr;
  if (const int code = git_odb_read(&raw, odb.get(), &id); code != 0)
    return library_error(code, fmt::format("blob {}", oid));
  const OdbObjectHandle object(raw);
  return std::string(static_cast<const char*>(git_odb_object_data(raw)), git_odb_object_size(raw));
}

Expected<std::string> Repository::blob(const Oid& oid, std::uint64_t largest) { return impl_->blob(oid, largest); }

Expected<void> Repository::stream_blob(const Oid& oid, const std::function<bool(std::string_view)>& take) {
  auto whole = impl_->blob(oid, streamed_from);
  if (whole) {
    std::string_view rest = *whole;
    while (!rest.empty()) {
      const std::string_view piece = rest.substr(0, 256 * 1024);
      if (!take(piece)) return {};
      rest.remove_prefix(piece.size());
    }
    return {};
  }
  if (whole.error().fault != Fault::too_large) return std::unexpected(whole.error());
  return cat_file(impl_->location, oid, take);  // libgit2 reads no packed object in pieces
}

}  // namespace stackgate::datastore::git
