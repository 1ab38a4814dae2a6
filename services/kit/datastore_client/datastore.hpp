// The datastore as a client sees it: repositories, large files, commits, tags. Thread-safe; calls block.
#pragma once
#include <chrono>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/kit/datastore_client/wire.hpp"
#include "services/kit/http_client/client.hpp"

namespace stackgate::datastore_client {

struct DatastoreOptions {
  std::string url;                 // "http://datastore:8000"
  std::string username, password;  // empty: anonymous
  bool private_repositories = false;
  /// The longest wait for the answer to a small call, with its repetition. A commit gets three times as much; a large
  /// file has no such limit: it ends after `transfer_pause` without a byte.
  std::chrono::milliseconds patience{10'000};
  std::chrono::milliseconds transfer_pause{60'000};
};

struct DatastoreError {
  bool away = false;  // no answer, or 5xx: trying again later may help
  int status = 0;     // of the answer, 0 without one
  std::string message;
  bool silent() const { return away && status == 0; }
};

template <typename T>
using FromDatastore = std::expected<T, DatastoreError>;

/// A file to be sent.
struct LargeFile {
  wire::Object object;
  std::string path;  // on this machine
};

class Datastore {
 public:
  explicit Datastore(DatastoreOptions options);

  /// Makes the repository, and the owner where that is missing. False: there is one of that name already.
  FromDatastore<bool> create_repository(std::string_view repository);
  /// Nothing: no such repository.
  FromDatastore<std::optional<std::string>> description(std::string_view repository);
  /// All of an owner that we may see, with their descriptions.
  FromDatastore<std::vector<wire::Described>> repositories_of(std::string_view owner);
  FromDatastore<void> describe(std::string_view repository, std::string_view description);
  /// One that does not exist is no error.
  FromDatastore<void> delete_repository(std::string_view repository);

  /// Sends what the datastore does not have yet, two files at a time. `sent` is called after each, on any thread.
  FromDatastore<void> send(std::string_view repository, const std::vector<LargeFile>& files,
                           const std::function<void()>& sent);

  /// Nothing: no such repository.
  FromDatastore<std::optional<wire::Refs>> refs(std::string_view repository);
  /// The main branch becomes exactly these files, on top of `parent`. The new commit's id.
  /// Status 409 or 412: somebody else was faster.
  FromDatastore<std::string> commit(std::string_view repository, wire::Commit commit);
  /// The commit on main whose title is `title`, or nothing.
  FromDatastore<std::optional<std::string>> find_commit(std::string_view repository, std::string_view title);
  /// The tag becomes this commit's, whatever it was before.
  FromDatastore<void> set_tag(std::string_view repository, std::string_view tag, std::string_view commit);
  FromDatastore<void> delete_tag(std::string_view repository, std::string_view tag);

  FromDatastore<std::vector<wire::TreeFile>> files_at(std::string_view repository, std::string_view revision);
  /// A small file of a model's main branch; nothing when it is not there.
  FromDatastore<std::optional<std::string>> small_file(std::string_view repository, std::string_view path);
  /// Does it answer, know us by our credentials, and let us write? For readiness: what is `away` comes back by itself.
  FromDatastore<void> check(std::chrono::milliseconds limit);

  const std::string& base() const { return base_; }
  const DatastoreOptions& options() const { return options_; }
  /// The Authorization header; empty for anonymous.
  const std::string& authorization() const { return authorization_; }
  /// For large answers: the head within `patience`, then no pause longer than `transfer_pause`.
  const http_client::Client& transfers() const { return transfers_; }

 private:
  FromDatastore<http_client::Response> ask(std::string_view method, std::string url, std::string body = {},
                                           std::string_view type = "application/json", bool repeatable = true);
  FromDatastore<http_client::Response> send_commit(const std::string& url, std::string body);
  void sign(http_client::Request& call, std::string_view type) const;
  FromDatastore<void> put(const LargeFile& file, const wire::Action& action);
  FromDatastore<void> verify(const wire::Object& object, const wire::Action& action);
  FromDatastore<void> make_owner(std::string_view repository);

  DatastoreOptions options_;
  std::string root_, base_, authorization_;
  http_client::Client client_;     // small calls
  http_client::Client transfers_;  // what may keep the datastore busy
};

/// "the datastore refused …: <its own words>"; 401 and 403 say which settings to look at.
DatastoreError refused(std::string_view what, const http_client::Response& reply);
/// "the datastore is away: <why>"
DatastoreError unanswered(std::string_view why);

}  // namespace stackgate::datastore_client
