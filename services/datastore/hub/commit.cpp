// A commit, file by file as its lines arrive: each goes to Git before the next one is read.
#include "services/datastore/git/lfs_pointer.hpp"
#include "services/datastore/git/names.hpp"
#include "services/datastore/git/write.hpp"
#include "services/datastore/hub/handlers.hpp"
#include "services/datastore/hub/ndjson.hpp"
#include "services/datastore/hub/place.hpp"
#include "services/datastore/hub/preupload.hpp"
#include "services/datastore/hub/shapes.hpp"
#include "services/datastore/lfs/attributes_commit.hpp"
#include "services/datastore/lfs/large_files.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore::hub {

namespace {

/// The change that a line asks for. A large file must be here.
std::expected<git::Change, web::Failure> change_of(const Backend& backend, const Place& place, CommitLine line,
                                                   std::size_t number) {
  git::Change out{.path = std::move(line.path)};
  switch (line.kind) {
    case CommitLine::Kind::header:
      return std::unexpected(bad_request("line " + std::to_string(number) + ": a second header"));
    case CommitLine::Kind::file:
      out.content = std::move(line.content);
      break;
    case CommitLine::Kind::lfs_file:
      if (auto there = backend.large_files.confirm(place.repository.id, line.oid, line.size); !there) {
        web::Failure why = to_failure(there.error());
        if (there.error().fault == ServiceFault::missing) why.status = 422;
        why.message = out.path + ": " + why.message;
        return std::unexpected(std::move(why));
      }
      out.content = git::format_lfs_pointer(line.oid, line.size);
      break;
    case CommitLine::Kind::deleted_file:
      out.kind = git::Change::Kind::remove;
      break;
    case CommitLine::Kind::deleted_folder:
      out.kind = git::Change::Kind::remove_folder;
      break;
  }
  return out;
}

web::Failure commit_failure(const git::GitError& error, bool parent_demanded) {
  web::Failure out = to_failure(error);
  if (error.fault == git::Fault::conflict) {
    out.status = parent_demanded ? 412 : 409;
    if (parent_demanded)
      out.message = "a commit has happened since: the branch's tip is not \"parentCommit\"; fetch it and try again";
  } else if (error.fault == git::Fault::missing) {
    out.status = 404;
    out.code = entry_not_found;
  } else if (error.fault == git::Fault::invalid) {
    out.status = 400;
  }
  return out;
}

}  // namespace

web::Answer post_commit(const Backend& backend, web::Call& call, RepositoryType type) {
  const auto place = TRY(enter(backend, call, type, Action::write));
  if (const auto pull = call.query().get("create_pr"); pull && *pull != "0" && *pull != "false" && !pull->empty())
    return web::Failure{.status = 501, .message = "pull requests are not offered here; commit to a branch instead"};
  std::string branch(call.parameter("revision"));
  if (branch.starts_with("refs/heads/")) branch.erase(0, 11);
  if (branch == "HEAD") branch = place.repository.default_branch;
  if (const auto fault = git::fault_of_branch_name(branch)) return bad_request("commits go to a branch: " + *fault);

  CommitLines lines([&](std::span<char> space) { return call.stream().read(space); }, largest_regular);
  auto header = TRY(lines.next());
  if (!header || header->kind != CommitLine::Kind::header)
    return bad_request(R"(the first line must be {"key": "header", "value": {"summary": "…"}})");

  // A branch comes into being with its first commit only where nothing was committed before.
  const std::string reference = "refs/heads/" + branch;
  const auto opened = open_revision(backend, place.repository, reference, {}, {reference});
  if (!opened && !names_nothing(opened.error())) return to_failure(opened.error());
  if (!opened)
    return web::Failure{.status = 404,
                        .message = "there is no branch \"" + branch + "\"; create it first",
                        .code = std::string(revision_not_found)};

  git::CommitRequest request{.branch = branch,
                             .message = header->summary + "\n",
                             .author = signature_of(backend, place.identity),
                             .parent = header->parent};
  request.committer = request.author;
  if (!header->description.empty()) request.message += "\n" + header->description + "\n";
  const auto refused = [&](const git::GitError& error) { return commit_failure(error, !request.parent.empty()); };
  const std::string path = backend.repositories.path(place.repository);
  lfs::CommitAttributes attributes(*opened->git, opened->commit);
  git::ChangeSet changes(path);
  for (;;) {
    auto line = TRY(lines.next());
    if (!line) break;
    const bool large = line->kind == CommitLine::Kind::lfs_file;
    const auto change = TRY(change_of(backend, place, std::move(*line), lines.number()));
    attributes.add(change, large);
    if (auto added = changes.add(change); !added) return refused(added.error());
  }
  if (const auto last = attributes.change())
    if (auto added = changes.add(*last); !added) return refused(added.error());
  const auto done = changes.commit(request);
  if (!done) return refused(done.error());
  attributes.settle(backend, place.repository, request, *done);
  if (opened->commit.empty() && branch != place.repository.default_branch && git::set_default_branch(path, branch))
    (void)backend.repositories.update(place.repository.id, {.default_branch = branch});
  note_change(backend, place.repository);
  return json_answer(committed({done->oid, place.url() + "/commit/" + done->oid}));
}

}  // namespace stackgate::datastore::hub
