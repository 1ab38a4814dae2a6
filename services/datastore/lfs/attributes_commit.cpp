#include "services/datastore/lfs/attributes_commit.hpp"

#include <utility>
#include <vector>

#include "services/datastore/guard/revision.hpp"
#include "services/datastore/lfs/attributes.hpp"
#include "services/datastore/repositories/repositories.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::datastore::lfs {

std::optional<std::string> text_at(git::Repository& git, const git::Oid& commit, std::string_view path) {
  if (commit.empty()) return {};
  const auto entry = git.entry(commit, path);
  if (!entry || (entry->kind != git::EntryKind::file && entry->kind != git::EntryKind::executable)) return {};
  auto text = git.blob(entry->oid, 1024 * 1024);
  if (!text) return {};
  return std::move(*text);
}

std::string attributes_for(const std::string& attributes, const std::set<std::string>& large) {
  const Attributes known = Attributes::parse(attributes);
  std::vector<std::string> missing;
  for (const std::string& path : large)
    if (!known.in_lfs(path).value_or(false)) missing.push_back(path);
  return missing.empty() ? attributes : with_lfs_lines(attributes, missing);
}

void settle_attributes(const Backend& backend, const Repository& repository, git::CommitRequest request,
                       const git::Committed& done, const std::string& seen, const std::set<std::string>& large) {
  if (large.empty() || done.before.empty()) return;
  const auto git = open_git(backend, repository);
  if (!git) return;
  const std::string before = text_at(**git, done.before, attributes_path).value_or("");
  if (before == seen) return;
  request.parent.clear();
  request.message = "Keep the attributes of large files\n";
  bool given = false;
  const auto settled = git::commit_changes(
      backend.repositories.path(repository), request, [&](git::Change& change) -> git::Expected<bool> {
        if (given) return false;
        change = {.path = std::string(attributes_path), .content = attributes_for(before, large)};
        return given = true;
      });
  if (!settled) log::warning("attributes of large files could not be merged", {{"problem", settled.error().message}});
}

}  // namespace stackgate::datastore::lfs
