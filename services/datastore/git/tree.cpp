#include <fmt/format.h>

#include "services/datastore/git/lfs_pointer.hpp"
#include "services/datastore/git/repository_impl.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore::git {
namespace {

EntryKind kind_of(const git_tree_entry& entry) {
  switch (git_tree_entry_filemode(&entry)) {
    case GIT_FILEMODE_TREE:
      return EntryKind::folder;
    case GIT_FILEMODE_COMMIT:
      return EntryKind::submodule;
    case GIT_FILEMODE_LINK:
      return EntryKind::symlink;
    case GIT_FILEMODE_BLOB_EXECUTABLE:
      return EntryKind::executable;
    default:
      return EntryKind::file;
  }
}

bool has_bytes(EntryKind kind) { return kind != EntryKind::folder && kind != EntryKind::submodule; }

/// Where listing goes on: at the mark, or where it would be by name if it has gone meanwhile. Git orders folders as if
/// a
/// '/' followed ("b.txt", then "b"), so only the entry itself tells its place.
std::size_t start_of(const git_tree& tree, std::string_view mark) {
  std::size_t later = 0;
  for (std::size_t i = 0; i < git_tree_entrycount(&tree) && !mark.empty(); ++i) {
    const std::string_view name = git_tree_entry_name(git_tree_entry_byindex(&tree, i));
    if (name == mark) return i;
    if (name < mark) later = i + 1;
  }
  return later;
}

Entry to_entry(const git_tree_entry& entry, std::string path) {
  return {std::move(path), kind_of(entry), to_oid(*git_tree_entry_id(&entry)), 0, {}};
}

}  // namespace

Expected<void> Repository::Impl::describe(Entry& entry, bool size, bool lfs) {
  if ((!size && !lfs) || !has_bytes(entry.kind)) return {};
  git_oid id;
  from_oid(entry.oid, id);
  std::size_t bytes = 0;
  git_object_t type{};
  if (const int code = git_odb_read_header(&bytes, &type, odb.get(), &id); code != 0)
    return library_error(code, fmt::format("blob {} of {}", entry.oid, entry.path));
  entry.size = bytes;
  if (!lfs || bytes > lfs_pointer_most || bytes < 100 || entry.kind == EntryKind::symlink) return {};
  const auto text = TRY(blob(entry.oid, lfs_pointer_most));
  entry.lfs = parse_lfs_pointer(text);
  return {};
}

Expected<TreeHandle> Repository::Impl::folder_at(const Oid& commit, std::string_view path) {
  const auto found = commit_at(commit);
  git_oid id;
  if (found)
    id = *git_commit_tree_id(found->get());
  else if (found.error().fault != Fault::missing || !from_oid(commit, id))
    return std::unexpected(found.error());
  auto root = tree_at(id);
  if (!root && !found) return std::unexpected(found.error());
  if (!root || path.empty()) return root;
  const auto entry = entry_at(root->get(), std::string(path));
  if (!entry) return git_error_of(Fault::missing, fmt::format("there is no \"{}\"", path));
  if (kind_of(*entry) != EntryKind::folder)
    return git_error_of(Fault::invalid, fmt::format("\"{}\" is no folder", path));
  return tree_at(*git_tree_entry_id(entry.get()));
}

Expected<void> Repository::Impl::list(const git_tree& tree, const std::string& prefix, std::string_view after,
                                      const TreeOptions& options, std::vector<Entry>& out) {
  if (prefix.size() > 8192) return git_error_of(Fault::invalid, "the folders are nested too deeply to be listed");
  const std::string_view first = after.substr(0, after.find('/'));
  const std::string_view deeper = first.size() == after.size() ? std::string_view{} : after.substr(first.size() + 1);
  for (std::size_t i = start_of(tree, first); i < git_tree_entrycount(&tree); ++i) {
    if (out.size() >= options.limit) return {};
    const git_tree_entry& from = *git_tree_entry_byindex(&tree, i);
    const std::string_view name = git_tree_entry_name(&from);
    const bool is_folder = kind_of(from) == EntryKind::folder;
    const bool at_mark = !after.empty() && name == first;
    if (at_mark && !(is_folder && options.recursive)) continue;
    Entry entry = to_entry(from, prefix + std::string(name));
    const std::string below = entry.path + "/";
    if (!at_mark) {
      TRY(describe(entry, options.sizes, options.lfs));
      out.push_back(std::move(entry));
    }
    if (!is_folder || !options.recursive) continue;
    const auto folder = TRY(tree_at(*git_tree_entry_id(&from)));
    TRY(list(*folder, below, at_mark ? deeper : std::string_view{}, options, out));
  }
  return {};
}

Expected<std::vector<Entry>> Repository::tree(const Oid& commit, std::string_view path, const TreeOptions& options) {
  const auto folder = TRY(impl_->folder_at(commit, path));
  const std::string prefix = path.empty() ? std::string{} : std::string(path) + "/";
  std::string_view after = options.after;
  if (!after.empty() && !prefix.empty()) {
    if (!after.starts_with(prefix))
      return git_error_of(Fault::invalid, fmt::format("the page mark \"{}\" is not in \"{}\"", after, path));
    after.remove_prefix(prefix.size());
  }
  std::vector<Entry> out;
  TRY(impl_->list(*folder, prefix, after, options, out));
  return out;
}

Expected<Entry> Repository::entry(const Oid& commit, std::string_view path) {
  const auto found = TRY(impl_->commit_at(commit));
  if (path.empty()) return Entry{{}, EntryKind::folder, to_oid(*git_commit_tree_id(found.get())), 0, {}};
  const auto root = TRY(impl_->tree_at(*git_commit_tree_id(found.get())));
  git_tree_entry* raw = nullptr;
  const int code = git_tree_entry_bypath(&raw, root.get(), std::string(path).c_str());
  if (code == GIT_ENOTFOUND) return git_error_of(Fault::missing, fmt::format("there is no \"{}\"", path));
  if (code != 0) return library_error(code, fmt::format("\"{}\"", path));
  const TreeEntryHandle held(raw);
  Entry out = to_entry(*raw, std::string(path));
  TRY(impl_->describe(out, true, true));
  return out;
}

}  // namespace stackgate::datastore::git
