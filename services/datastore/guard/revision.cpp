#include "services/datastore/guard/revision.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/datastore/clock.hpp"
#include "services/datastore/guard/guard.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::datastore {

std::expected<std::unique_ptr<git::Repository>, ServiceError> open_git(const Backend& backend,
                                                                       const Repository& repository) {
  return git::Repository::open(backend.repositories.path(repository));
}

bool names_nothing(const git::GitError& error) {
  return error.fault == git::Fault::missing || error.fault == git::Fault::invalid;
}

git::Expected<RepositoryAtRevision> open_revision(const Backend& backend, const Repository& repository,
                                                  std::string_view revision, std::string_view path,
                                                  std::initializer_list<std::string_view> unborn) {
  constexpr int most_segments = 8;
  auto git = TRY(git::Repository::open(backend.repositories.path(repository)));
  RepositoryAtRevision out{.git = std::move(git),
                           .revision = std::string(revision.empty() ? repository.default_branch : revision),
                           .path = std::string(path)};
  const auto resolve = [&](std::string_view name) -> git::Expected<git::Oid> {
    auto commit = out.git->resolve(name);
    if (commit || !names_nothing(commit.error())) return commit;
    if (revision.empty()) return git::Oid{};
    if (std::ranges::find(unborn, name) == unborn.end()) return commit;
    const auto refs = TRY(out.git->refs());
    const auto is_branch = [](const git::Ref& ref) { return ref.name.starts_with("refs/heads/"); };
    return std::ranges::none_of(refs, is_branch) ? git::Oid{} : std::move(commit);
  };
  auto commit = resolve(out.revision);
  std::string longer = out.revision;
  for (int i = 0; i < most_segments && !commit && names_nothing(commit.error()) && !path.empty(); ++i) {
    const std::string_view segment = path.substr(0, path.find('/'));
    longer.append("/").append(segment);
    path.remove_prefix(std::min(path.size(), segment.size() + 1));
    if (auto found = resolve(longer)) {
      commit = std::move(found);
      out.revision = longer;
      out.path = path;
    }
  }
  out.commit = TRY(std::move(commit));
  return out;
}

git::Signature signature_of(const Backend& backend, const Identity& identity) {
  git::Signature out{.name = identity.name, .seconds = seconds_now()};
  if (const auto account = backend.accounts.find(identity.account)) out.email = account->email;
  if (out.email.empty()) out.email = identity.name + "@users.noreply.localhost";
  return out;
}

void note_change(const Backend& backend, const Repository& repository) {
  if (auto touched = backend.repositories.touch(repository.id); !touched)
    log::warning("a repository's time of change was not noted", {{"problem", touched.error().message}});
}

git::Expected<git::Committed> commit_readme(const Backend& backend, const Identity& identity,
                                            const Repository& repository) {
  std::string text = fmt::format("# {}\n", repository.name);
  if (!repository.description.empty()) text += fmt::format("\n{}\n", repository.description);
  const git::Signature who = signature_of(backend, identity);
  return git::commit_changes(
      backend.repositories.path(repository),
      {.branch = repository.default_branch, .message = "Initial commit\n", .author = who, .committer = who},
      {{.path = "README.md", .content = std::move(text)}});
}

}  // namespace stackgate::datastore
