#include "services/datastore/lfs/attributes_commit.hpp"

#include <utility>
#include <vector>

#include "services/datastore/guard/revision.hpp"
#include "services/datastore/repositories/repositories.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::datastore::lfs {
namespace {

/// `attributes` with a line for each path of `large` that they do not keep in LFS.
std::string attributes_for(const std::string& attributes, const std::set<std::string>& large) {
  const Attributes known = Attributes::parse(attributes);
  std::vector<std::string> missing;
  for (const std::string& path : large)
    if (!known.in_lfs(path).value_or(false)) missing.push_back(path);
  return missing.empty() ? attributes : with_lfs_lines(attributes, missing);
}

}  // namespace

std::optional<std::string> text_at(git::Repository& git, const git::Oid& commit, std::string_view path) {
  if (commit.empty()) return {};
  const auto entry = git.entry(commit, path);
  if (!entry || (entry->kind != git::EntryKind::file && entry->kind != git::EntryKind::executable)) return {};
  auto text = git.blob(entry->oid, 1024 * 1024);
  if (!text) return {};
  return std::move(*text);
}

CommitAttributes::CommitAttributes(git::Repository& git, const git::Oid& tip)
    : seen_(text_at(git, tip, attributes_path).value_or("")), text_(seen_) {}

void CommitAttributes::add(const git::Change& file, bool large) {
  if (large)
    large_.insert(file.path);
  else if (file.path == attributes_path && file.kind == git::Change::Kind::put)
    text_ = file.content;
}

std::optional<git::Change> CommitAttributes::change() const {
  std::string covering = attributes_for(text_, large_);
  if (covering == text_) return {};
  return git::Change{.path = std::string(attributes_path), .content = std::move(covering)};
}

void CommitAttributes::settle(const Backend& backend, const Repository& repository, git::CommitRequest request,
                              const git::Committed& done) const {
  if (large_.empty() || done.before.empty()) return;
  const auto git = open_git(backend, repository);
  if (!git) return;
  const std::string before = text_at(**git, done.before, attributes_path).value_or("");
  if (before == seen_) return;
  request.parent.clear();
  request.message = "Keep the attributes of large files\n";
  const auto settled =
      git::commit_changes(backend.repositories.path(repository), request,
                          {{.path = std::string(attributes_path), .content = attributes_for(before, large_)}});
  if (!settled) log::warning("attributes of large files could not be merged", {{"problem", settled.error().message}});
}

}  // namespace stackgate::datastore::lfs
