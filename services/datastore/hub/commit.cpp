// A commit, file by file as its lines arrive: each goes to Git before the next one is read.
#include <algorithm>
#include <optional>
#include <set>

#include "services/datastore/git/lfs_pointer.hpp"
#include "services/datastore/git/names.hpp"
#include "services/datastore/git/write.hpp"
#include "services/datastore/hub/handlers.hpp"
#include "services/datastore/hub/ndjson.hpp"
#include "services/datastore/hub/place.hpp"
#include "services/datastore/hub/preupload.hpp"
#include "services/datastore/hub/shapes.hpp"
#include "services/datastore/lfs/attributes_commit.hpp"
#include "services/datastore/lfs/http.hpp"
#include "services/datastore/lfs/large_files.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::datastore::hub {

namespace {

/// Lines turned into changes; after the last one .gitattributes, if a large file needs a line there.
class CommitBody {
 public:
  CommitBody(const Backend& backend, const Place& place, CommitLines& lines, std::string attributes)
      : backend_(backend), place_(place), lines_(lines), attributes_(std::move(attributes)) {}

  git::Expected<bool> next(git::Change& change) {
    if (ended_) return false;
    auto line = lines_.next();
    if (!line) return stop(std::move(line.error()));
    if (!*line) {
      ended_ = true;
      return last(change);
    }
    ++count_;
    return translate(std::move(**line), change);
  }
  std::optional<web::Failure> failure{};  // what the client did wrong
  std::size_t count() const { return count_; }
  /// Large files of this commit, for .gitattributes.
  const std::set<std::string>& large() const { return large_; }

 private:
  std::unexpected<git::GitError> stop(web::Failure why) {
    failure = std::move(why);
    return std::unexpected(git::GitError{git::Fault::invalid, failure->message});
  }

  git::Expected<bool> translate(CommitLine line, git::Change& change) {
    change = {.path = std::move(line.path)};
    switch (line.kind) {
      case CommitLine::Kind::header:
        return stop(bad_request("line " + std::to_string(lines_.number()) + ": a second header"));
      case CommitLine::Kind::file:
        change.content = std::move(line.content);
        if (change.path == lfs::attributes_path) attributes_ = change.content;
        break;
      case CommitLine::Kind::lfs_file: {
        auto there = backend_.large_files.confirm(place_.repository.id, line.oid, line.size);
        if (!there) {
          const bool client =
              there.error().fault == ServiceFault::missing || there.error().fault == ServiceFault::invalid;
          web::Failure why = to_failure(there.error());
          if (client) why.status = 422;
          why.message = change.path + ": " + why.message;
          return stop(std::move(why));
        }
        change.content = git::format_lfs_pointer(line.oid, line.size);
        large_.insert(change.path);
        break;
      }
      case CommitLine::Kind::deleted_file:
        change.kind = git::Change::Kind::remove;
        break;
      case CommitLine::Kind::deleted_folder:
        change.kind = git::Change::Kind::remove_folder;
        break;
    }
    return true;
  }

  git::Expected<bool> last(git::Change& change) {
    std::string covering = lfs::attributes_for(attributes_, large_);
    if (covering == attributes_) return false;
    change = {.path = std::string(lfs::attributes_path), .content = std::move(covering)};
    return true;
  }

  const Backend& backend_;
  const Place& place_;
  CommitLines& lines_;
  std::string attributes_;
  bool ended_ = false;
  std::size_t count_ = 0;
  std::set<std::string> large_;
};

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
  const auto git = open_git(backend, place.repository);
  if (!git) return git.error();
  const auto refs = (*git)->refs();
  if (!refs) return to_failure(refs.error());
  const bool first =
      std::ranges::none_of(*refs, [](const git::Ref& ref) { return ref.name.starts_with("refs/heads/"); });
  const auto tip = (*git)->resolve("refs/heads/" + branch);
  if (!tip && !first)
    return web::Failure{.status = 404,
                        .message = "there is no branch \"" + branch + "\"; create it first",
                        .code = std::string(revision_not_found)};

  const std::string seen = tip ? lfs::text_at(**git, *tip, lfs::attributes_path).value_or("") : "";
  CommitBody body(backend, place, lines, seen);
  git::CommitRequest request{.branch = branch,
                             .message = header->summary + "\n",
                             .author = signature_of(backend, place.identity),
                             .parent = header->parent};
  request.committer = request.author;
  if (!header->description.empty()) request.message += "\n" + header->description + "\n";
  const std::string path = backend.repositories.path(place.repository);
  const auto done = git::commit_changes(path, request, [&](git::Change& change) { return body.next(change); });
  if (body.failure) return std::move(*body.failure);
  if (!done) return commit_failure(done.error(), !request.parent.empty());
  lfs::settle_attributes(backend, place.repository, request, *done, seen, body.large());
  if (first && branch != place.repository.default_branch && git::set_default_branch(path, branch))
    (void)backend.repositories.update(place.repository.id, {.default_branch = branch});
  if (auto touched = backend.repositories.touch(place.repository.id); !touched)
    log::warning("a repository's time of change was not noted", {{"problem", touched.error().message}});
  return json_answer(committed({done->oid, place.url() + "/commit/" + done->oid}));
}

}  // namespace stackgate::datastore::hub
