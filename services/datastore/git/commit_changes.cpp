#include <fmt/format.h>

#include "services/datastore/git/identity_line.hpp"
#include "services/datastore/git/library.hpp"
#include "services/datastore/git/lock.hpp"
#include "services/datastore/git/names.hpp"
#include "services/datastore/git/pack_writer.hpp"
#include "services/datastore/git/reference.hpp"
#include "services/datastore/git/tree_edit.hpp"
#include "services/datastore/git/write.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore::git {
namespace {

constexpr std::chrono::seconds commit_wait{60};      // for the repository's lock
constexpr std::chrono::seconds commit_patience{10};  // with pushes to the same branch that are faster

/// The tree of a commit; empty for no commit.
Expected<Oid> tree_of(git_repository* repository, const Oid& commit) {
  if (commit.empty()) return Oid{};
  const auto handle = TRY(lookup_commit(repository, TRY(commit_id(commit))));
  return to_oid(*git_commit_tree_id(handle.get()));
}

Expected<std::vector<TreeLine>> read_tree_lines(git_repository* repository, const Oid& oid) {
  git_oid id;
  if (!from_oid(oid, id)) return git_error_of(Fault::broken, fmt::format("\"{}\" is no tree id", oid));
  const auto tree = TRY(lookup_tree(repository, id));
  std::vector<TreeLine> lines;
  lines.reserve(git_tree_entrycount(tree.get()));
  for (std::size_t i = 0; i < git_tree_entrycount(tree.get()); ++i) {
    const git_tree_entry* entry = git_tree_entry_byindex(tree.get(), i);
    lines.push_back({git_tree_entry_name(entry), static_cast<std::uint32_t>(git_tree_entry_filemode_raw(entry)),
                     to_oid(*git_tree_entry_id(entry))});
  }
  return lines;
}

struct Attempt {
  const std::string& path;
  const CommitRequest& request;
  const std::string name;  // refs/heads/…
  const TreeEdit& edit;
};

/// Where the branch is, and what the commit stands on: for a new branch, the demanded parent.
struct Base {
  Oid tip, parent;
};

Expected<Base> find_base(const Attempt& attempt) {
  const auto now = TRY(read_reference(attempt.path, attempt.name));
  if (now && !now->symbolic.empty())
    return git_error_of(Fault::invalid, fmt::format("\"{}\" is an alias of another branch", attempt.request.branch));
  const Oid tip = now ? now->oid : Oid{};
  const Oid& demanded = attempt.request.parent;
  if (!tip.empty() && !demanded.empty() && tip != demanded)
    return git_error_of(Fault::conflict,
                        fmt::format("branch \"{}\" is at {}, not at the parent commit {}: fetch it and "
                                    "commit again",
                                    attempt.request.branch, tip, demanded));
  return Base{tip, tip.empty() ? demanded : tip};
}

Expected<Committed> commit_once(const Attempt& attempt, PackWriter& pack, const WriterLock& writer) {
  const auto base = TRY(find_base(attempt));
  const auto repository = TRY(open_handle(attempt.path));
  const auto base_tree = TRY(tree_of(repository.get(), base.parent));

  auto tree = attempt.edit.apply(
      base_tree, [&](const Oid& oid) { return read_tree_lines(repository.get(), oid); },
      [&](const std::string& content) { return pack.add(ObjectType::tree, content); });
  if (tree && tree->empty()) tree = pack.add(ObjectType::tree, {});
  if (!tree) return std::unexpected(tree.error());
  if (*tree == base_tree && !attempt.request.allow_empty && !base.tip.empty())
    return Committed{base.tip, base.tip, false};

  std::string text = fmt::format("tree {}\n", *tree);
  if (!base.parent.empty()) text += fmt::format("parent {}\n", base.parent);
  text += fmt::format("author {}\ncommitter {}\n\n", format_identity(attempt.request.author),
                      format_identity(attempt.request.committer));
  for (const char c : attempt.request.message)
    if (c != '\0') text.push_back(c);
  if (!text.ends_with('\n')) text.push_back('\n');
  const auto commit = TRY(pack.add(ObjectType::commit, text));
  TRY(pack.finish());
  TRY(move_reference(attempt.path, attempt.name, base.tip, commit, &writer));
  return Committed{commit, base.tip, true};
}

}  // namespace

struct ChangeSet::Impl {
  const std::string path;
  std::unique_ptr<PackWriter> pack = std::make_unique<PackWriter>(path);
  TreeEdit edit{};
};

ChangeSet::ChangeSet(std::string repository_path) : impl_(new Impl{std::move(repository_path)}) { prepare_library(); }
ChangeSet::~ChangeSet() = default;

Expected<void> ChangeSet::add(const Change& change) {
  if (auto fault = fault_of_path(change.path)) return git_error_of(Fault::invalid, std::move(*fault));
  if (change.kind != Change::Kind::put)
    return impl_->edit.remove(change.path, change.kind == Change::Kind::remove_folder);
  auto blob = TRY(impl_->pack->add(ObjectType::blob, change.content));
  return impl_->edit.put(change.path, std::move(blob));
}

Expected<Committed> ChangeSet::commit(const CommitRequest& request) {
  if (auto fault = fault_of_branch_name(request.branch)) return git_error_of(Fault::invalid, std::move(*fault));
  if (!request.parent.empty() && !is_oid(request.parent))
    return git_error_of(Fault::invalid, fmt::format("the parent \"{}\" is no commit id", request.parent));
  // Trees and the commit follow under the lock.
  const auto lock = TRY(CommitLock::take(impl_->path, commit_wait));
  const Attempt attempt{impl_->path, request, "refs/heads/" + request.branch, impl_->edit};
  const auto deadline = std::chrono::steady_clock::now() + commit_patience;
  for (bool again = false;; again = true) {
    auto out = commit_once(attempt, *impl_->pack, lock.writer());
    // A push may have been faster; with a demanded parent, find_base() says so the next time round.
    if (out || out.error().fault != Fault::conflict || (again && !request.parent.empty()) ||
        std::chrono::steady_clock::now() >= deadline)
      return out;
    // The files' pack is finished; trees and commit need another.
    if (impl_->pack->finished()) impl_->pack = std::make_unique<PackWriter>(impl_->path);
  }
}

Expected<Committed> commit_changes(const std::string& repository_path, const CommitRequest& request,
                                   const std::vector<Change>& changes) {
  ChangeSet set(repository_path);
  for (const Change& change : changes) TRY(set.add(change));
  return set.commit(request);
}

}  // namespace stackgate::datastore::git
