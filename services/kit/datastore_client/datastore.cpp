#include "services/kit/datastore_client/datastore.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "services/kit/base/base64.hpp"
#include "services/kit/base/percent.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/web/query.hpp"

namespace stackgate::datastore_client {
namespace datastore_detail {

constexpr std::string_view lfs_type = "application/vnd.git-lfs+json";
constexpr unsigned most_pages = 100;

std::unexpected<DatastoreError> unreadable(std::string message) {
  return std::unexpected(DatastoreError{.away = false, .status = 200, .message = std::move(message)});
}

bool is_good(const http_client::Response& reply) { return reply.status >= 200 && reply.status < 300; }

/// The answer, whatever its status.
FromDatastore<http_client::Response> answer_of(const http_client::Client& client, const http_client::Request& call) {
  auto reply = client.call(call);
  if (!reply) return std::unexpected(unanswered(reply.error().message));
  return std::move(*reply);
}

/// Nothing, where the datastore did `what`.
FromDatastore<void> done(const http_client::Response& reply, std::string_view what) {
  if (is_good(reply)) return {};
  return std::unexpected(refused(what, reply));
}

/// The body as `read` understands it, where the datastore did `what`.
template <class Read>
auto body_of(const http_client::Response& reply, std::string_view what, Read read)
    -> FromDatastore<typename decltype(read(reply.body))::value_type> {
  if (!is_good(reply)) return std::unexpected(refused(what, reply));
  auto body = read(reply.body);
  if (!body) return unreadable(body.error());
  return std::move(*body);
}

}  // namespace datastore_detail

using namespace datastore_detail;

DatastoreError refused(std::string_view what, const http_client::Response& reply) {
  std::string why = wire::reason_of(reply.body);
  if (why.empty()) why = fmt::format("status {}", reply.status);
  std::string message = fmt::format("the datastore did not {}: {}", what, why);
  if (reply.status == 401 || reply.status == 403)
    message += "; check DATASTORE_USERNAME and DATASTORE_PASSWORD, which need the right to create repositories";
  return {.away = reply.status >= 500 || reply.status == 429, .status = reply.status, .message = std::move(message)};
}

DatastoreError unanswered(std::string_view why) {
  return {.away = true, .status = 0, .message = fmt::format("the datastore is away: {}", why)};
}

// One that takes connections and says nothing is as away as one that is not there: whoever waits for us gets an error
// before their own patience ends. Half of the patience for one attempt leaves the other to a replica that does answer.
Datastore::Datastore(DatastoreOptions options)
    : options_(std::move(options)),
      base_(wire::base_of(options_.url)),
      client_({.connect = options_.patience / 2,
               .pause = options_.patience / 2,
               .whole = options_.patience,
               .retries = 1,
               .user_agent = "stackgate-entitystore"}),
      transfers_({.connect = options_.patience / 2,
                  .pause = options_.transfer_pause,
                  .retries = 1,
                  .user_agent = "stackgate-entitystore"}) {
  root_ = base_.substr(0, base_.size() - std::string_view("/v1/hf").size());
  if (!options_.username.empty() || !options_.password.empty())
    authorization_ = "Basic " + base64::encode(fmt::format("{}:{}", options_.username, options_.password));
}

FromDatastore<http_client::Response> Datastore::ask(std::string_view method, std::string url, std::string body,
                                                    std::string_view type, bool repeatable) {
  http_client::Request call{
      .method = std::string(method), .url = std::move(url), .body = std::move(body), .repeatable = repeatable};
  sign(call, type);
  return answer_of(client_, call);
}

void Datastore::sign(http_client::Request& call, std::string_view type) const {
  if (!authorization_.empty()) call.headers.emplace_back("Authorization", authorization_);
  call.headers.emplace_back("Accept", type == lfs_type ? std::string(type) : "application/json");
  if (!call.body.empty()) call.headers.emplace_back("Content-Type", std::string(type));
}

FromDatastore<void> Datastore::make_owner(std::string_view repository) {
  auto body =
      json::object_text([&](json::Writer& w) { w.member("username", repository.substr(0, repository.find('/'))); });
  const auto reply = TRY(ask("POST", root_ + "/api/v1/orgs", std::move(body)));
  // It is there already, or made a moment ago by another replica.
  if (reply.status == 409 || reply.status == 422) return {};
  return done(reply, "create the owner of the adapters' repositories");
}

FromDatastore<bool> Datastore::create_repository(std::string_view repository) {
  const auto attempt = [&] {
    // Not repeated by the client: after a lost answer the second one would say that somebody else was faster.
    return ask("POST", base_ + "/api/repos/create", wire::create_body(repository, options_.private_repositories),
               "application/json", false);
  };
  auto reply = attempt();
  if (reply && (reply->status == 403 || reply->status == 404 || reply->status == 422)) {
    // An owner that does not exist is told in several ways; with the owner there, the second answer is the true one.
    TRY(make_owner(repository));
    reply = attempt();
  }
  if (!reply) return std::unexpected(reply.error());
  if (is_good(*reply)) return true;
  if (reply->status == 409) return false;
  return std::unexpected(refused("create the repository", *reply));
}

FromDatastore<std::optional<std::string>> Datastore::description(std::string_view repository) {
  const auto reply = TRY(ask("GET", root_ + wire::repository_path(repository)));
  if (reply.status == 404) return std::optional<std::string>();
  return body_of(reply, "describe the repository", wire::read_description);
}

FromDatastore<std::vector<wire::Described>> Datastore::repositories_of(std::string_view owner) {
  std::vector<wire::Described> out;
  std::optional<std::string> query = wire::list_query(owner);
  for (unsigned page = 0; query && page < most_pages; ++page) {
    const auto reply = TRY(ask("GET", fmt::format("{}/api/models?{}", base_, *query)));
    auto some = TRY(body_of(reply, "list repositories", wire::read_repositories));
    std::ranges::move(some, std::back_inserter(out));
    query = wire::next_query(reply.header("Link").value_or(""));
  }
  return out;
}

FromDatastore<void> Datastore::describe(std::string_view repository, std::string_view description) {
  auto body = json::object_text([&](json::Writer& w) { w.member("description", description); });
  const auto reply = TRY(ask("PATCH", root_ + wire::repository_path(repository), std::move(body)));
  return done(reply, "mark the repository as this service's");
}

FromDatastore<void> Datastore::delete_repository(std::string_view repository) {
  const auto reply = TRY(ask("DELETE", base_ + "/api/repos/delete", wire::delete_body(repository)));
  return reply.status == 404 ? FromDatastore<void>() : done(reply, "delete the repository");
}

FromDatastore<void> Datastore::put(const LargeFile& file, const wire::Action& action) {
  struct Open {
    int fd;
    ~Open() {
      if (fd >= 0) ::close(fd);
    }
  };
  const auto open = std::make_shared<Open>(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (open->fd < 0) return std::unexpected(DatastoreError{false, 0, fmt::format("cannot read {} again", file.path)});
  http_client::Request call{.method = "PUT", .url = action.href, .headers = action.headers};
  call.headers.emplace_back("Content-Type", "application/octet-stream");
  call.body_size = file.object.size;
  call.read_body = [open](char* space, std::size_t size) {
    const ssize_t got = ::read(open->fd, space, size);
    return got < 0 ? http_client::body_failed : static_cast<std::size_t>(got);
  };
  call.rewind = [open] { return ::lseek(open->fd, 0, SEEK_SET) == 0; };
  const auto reply = TRY(answer_of(transfers_, call));
  return done(reply, "take a large file");
}

FromDatastore<void> Datastore::verify(const wire::Object& object, const wire::Action& action) {
  auto body = json::object_text([&](json::Writer& w) {
    w.member("oid", std::string_view(object.oid));
    w.member("size", object.size);
  });
  http_client::Request call{
      .method = "POST", .url = action.href, .headers = action.headers, .body = std::move(body), .repeatable = true};
  call.headers.emplace_back("Content-Type", std::string(lfs_type));
  call.headers.emplace_back("Accept", std::string(lfs_type));
  const bool authorized = std::ranges::any_of(action.headers, [](const auto& header) {
    return header.first == "Authorization" || header.first == "authorization";
  });
  if (!authorized && !authorization_.empty() && action.href.starts_with(root_ + "/"))
    call.headers.emplace_back("Authorization", authorization_);
  const auto reply = TRY(answer_of(client_, call));
  return done(reply, "confirm a large file");
}

FromDatastore<void> Datastore::send(std::string_view repository, const std::vector<LargeFile>& files,
                                    const std::function<void()>& sent) {
  std::vector<wire::Object> objects;
  std::set<std::string> seen;
  for (const LargeFile& file : files)
    if (seen.insert(file.object.oid).second) objects.push_back(file.object);
  if (objects.empty()) return {};
  const auto reply = TRY(ask("POST", wire::batch_url(base_, repository), wire::batch_body(objects), lfs_type));
  const auto transfers = TRY(body_of(reply, "accept large files", wire::read_batch));

  std::mutex mutex;
  std::optional<DatastoreError> failed;
  std::atomic<std::size_t> next{0};
  const auto one = [&](const wire::Object& object) -> FromDatastore<void> {
    const auto transfer = transfers.find(object.oid);
    if (transfer == transfers.end()) return unreadable("the datastore's LFS answer leaves a file out");
    if (!transfer->second.error.empty())
      return std::unexpected(
          DatastoreError{false, 422, "the datastore refused a large file: " + transfer->second.error});
    if (!transfer->second.upload) return {};
    const auto file = std::ranges::find(files, object.oid, [](const LargeFile& f) { return f.object.oid; });
    TRY(put(*file, *transfer->second.upload));
    return transfer->second.verify ? verify(object, *transfer->second.verify) : FromDatastore<void>();
  };
  const auto work = [&] {
    for (std::size_t i = next++; i < objects.size(); i = next++) {
      auto result = one(objects[i]);
      if (result) sent();
      const std::lock_guard lock(mutex);
      if (!result && !failed) failed = std::move(result.error());
      if (failed) return;
    }
  };
  {
    const std::jthread second(objects.size() > 1 ? std::jthread(work) : std::jthread());
    work();
  }
  if (failed) return std::unexpected(std::move(*failed));
  return {};
}

FromDatastore<std::optional<wire::Refs>> Datastore::refs(std::string_view repository) {
  const auto reply = TRY(ask("GET", wire::api_url(base_, repository, "/refs")));
  if (reply.status == 404) return std::optional<wire::Refs>();
  return body_of(reply, "list references", wire::read_refs);
}

FromDatastore<std::vector<wire::TreeFile>> Datastore::files_at(std::string_view repository, std::string_view revision) {
  std::vector<wire::TreeFile> out;
  const std::string url = wire::api_url(base_, repository, fmt::format("/tree/{}", percent_encode(revision)));
  std::optional<std::string> query = "recursive=true";
  for (unsigned page = 0; query && page < most_pages; ++page) {
    const auto reply = TRY(ask("GET", fmt::format("{}?{}", url, *query)));
    auto paths = TRY(body_of(reply, "list files", wire::read_tree));
    std::ranges::move(paths, std::back_inserter(out));
    query = wire::next_query(reply.header("Link").value_or(""));
  }
  return out;
}

FromDatastore<http_client::Response> Datastore::send_commit(const std::string& url, std::string body) {
  // Not repeated by the client: whether one whose answer was lost is there, find_commit() tells.
  http_client::Request call{
      .method = "POST", .url = url, .body = std::move(body), .repeatable = false, .whole = 3 * options_.patience};
  sign(call, "application/x-ndjson");
  return answer_of(transfers_, call);
}

FromDatastore<std::string> Datastore::commit(std::string_view repository, wire::Commit commit) {
  if (!commit.parent.empty()) {
    const auto old = TRY(files_at(repository, commit.parent));
    for (const wire::TreeFile& file : old) {
      const bool stays = file.path == ".gitattributes" ||
                         std::ranges::find(commit.files, file.path, &wire::CommitFile::path) != commit.files.end();
      if (!stays) commit.deleted.push_back(file.path);
    }
  }
  const auto reply = TRY(send_commit(wire::api_url(base_, repository, "/commit/main"), wire::commit_body(commit)));
  return body_of(reply, "take the commit", wire::read_commit);
}

FromDatastore<std::optional<std::string>> Datastore::find_commit(std::string_view repository, std::string_view title) {
  std::optional<std::string> query = "limit=100";
  for (unsigned page = 0; query && page < most_pages; ++page) {
    const auto reply = TRY(ask("GET", wire::api_url(base_, repository, "/commits/main?" + *query)));
    if (reply.status == 404) return std::optional<std::string>();
    const auto log = TRY(body_of(reply, "list commits", wire::read_log));
    if (const auto found = std::ranges::find(log, title, &wire::LogEntry::title); found != log.end())
      return std::optional(found->id);
    query = wire::next_query(reply.header("Link").value_or(""));
  }
  return std::optional<std::string>();
}

FromDatastore<void> Datastore::set_tag(std::string_view repository, std::string_view tag, std::string_view commit) {
  const auto body = json::object_text([&](json::Writer& w) { w.member("tag", tag); });
  const std::string url = wire::api_url(base_, repository, fmt::format("/tag/{}", percent_encode(commit)));
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto reply = TRY(ask("POST", url, body));
    if (is_good(reply)) return {};
    if (reply.status != 409) return std::unexpected(refused("set the tag", reply));
    const auto now = TRY(refs(repository));
    if (now) {
      const auto found = now->tags.find(std::string(tag));
      if (found != now->tags.end() && found->second == commit) return {};
    }
    TRY(delete_tag(repository, tag));
  }
  return std::unexpected(DatastoreError{false, 409, "the datastore keeps another tag of that name"});
}

FromDatastore<void> Datastore::delete_tag(std::string_view repository, std::string_view tag) {
  const auto reply = TRY(ask("DELETE", wire::api_url(base_, repository, fmt::format("/tag/{}", percent_encode(tag)))));
  return reply.status == 404 ? FromDatastore<void>() : done(reply, "delete the tag");
}

FromDatastore<std::optional<std::string>> Datastore::small_file(std::string_view repository, std::string_view path) {
  auto reply = TRY(ask("GET", wire::resolve_url(base_, repository, "main", path)));
  if (!is_good(reply)) return std::optional<std::string>();
  return std::optional(std::move(reply.body));
}

FromDatastore<void> Datastore::check(std::chrono::milliseconds limit) {
  http_client::Request call{.url = base_ + "/api/whoami-v2", .repeatable = false, .whole = limit};
  if (!authorization_.empty()) call.headers.emplace_back("Authorization", authorization_);
  const auto reply = TRY(answer_of(client_, call));
  if (is_good(reply)) {
    if (!wire::only_reads(reply.body)) return {};
    return std::unexpected(
        DatastoreError{.away = false,
                       .status = 403,
                       .message = "the datastore knows DATASTORE_PASSWORD as a token for reading only: no upload gets "
                                  "in; give a token with the scope \"write\", or the account's password"});
  }
  DatastoreError error = refused("know us", reply);
  // 429 is what too many wrong passwords get, ours among them.
  if (reply.status == 429) error.away = false;
  return std::unexpected(std::move(error));
}

}  // namespace stackgate::datastore_client
