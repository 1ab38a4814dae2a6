// Requests to the datastore and its answers: Hugging Face's API below /v1/hf and Git LFS. Pure.
#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stackgate::datastore_client::wire {

/// "http://host/v1/hf" of "http://host", "http://host/" and "http://host/v1/hf/".
std::string base_of(std::string_view datastore_url);
/// ".../api/models/<owner>/<name><rest>"
std::string api_url(std::string_view base, std::string_view repository, std::string_view rest = {});
std::string resolve_url(std::string_view base, std::string_view repository, std::string_view revision,
                        std::string_view path);
/// The same of a data set: ".../api/datasets/<owner>/<name><rest>", ".../datasets/<owner>/<name>/resolve/…".
std::string dataset_url(std::string_view base, std::string_view repository, std::string_view rest = {});
std::string dataset_file_url(std::string_view base, std::string_view repository, std::string_view revision,
                             std::string_view path);
std::string batch_url(std::string_view base, std::string_view repository);

std::string create_body(std::string_view repository, bool is_private);
std::string delete_body(std::string_view repository);

/// "/api/v1/repos/<owner>/<name>": what the datastore holds of a repository, in Gitea's form.
std::string repository_path(std::string_view repository);
std::expected<std::string, std::string> read_description(std::string_view body);
struct Object {
  std::string oid;  // sha-256
  std::uint64_t size = 0;
};
std::string batch_body(const std::vector<Object>& objects);

struct Action {
  std::string href;
  std::vector<std::pair<std::string, std::string>> headers;
};
struct Transfer {
  std::optional<Action> upload, verify;  // no upload: the datastore has it
  std::string error;                     // "422: …"
};
/// By oid. The error is a sentence: an answer that is no batch answer.
std::expected<std::map<std::string, Transfer>, std::string> read_batch(std::string_view body);

struct CommitFile {
  std::string path;
  std::string content;            // of a regular file
  std::optional<Object> large{};  // or this
};
struct Commit {
  std::string summary, description, parent;  // parent: empty for the first one
  std::vector<CommitFile> files;
  std::vector<std::string> deleted;
};
/// application/x-ndjson
std::string commit_body(const Commit& commit);
std::expected<std::string, std::string> read_commit(std::string_view body);  // the new commit's id

struct Refs {
  std::string main;                         // empty: no commit yet
  std::map<std::string, std::string> tags;  // name → commit
};
std::expected<Refs, std::string> read_refs(std::string_view body);

struct TreeFile {
  std::string path;
  std::uint64_t size = 0;
  std::string sha256;  // of a large one
  std::string blob{};  // its Git object id; of a large one that of its pointer
};
std::expected<std::vector<TreeFile>, std::string> read_tree(std::string_view body);

/// The commit that the description of a repository at a revision names.
std::expected<std::string, std::string> read_commit_of(std::string_view body);

/// A text's lines, from pieces of any size. Not thread-safe.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t longest) : longest_(longest) {}
  /// Calls `each` with every line that is whole, without its end (LF or CRLF), until it returns false; then, and for a
  /// line that is too long, false.
  bool feed(std::string_view piece, const std::function<bool(std::string_view)>& each);
  /// What follows the last line end, unless it is empty.
  bool end(const std::function<bool(std::string_view)>& each);
  bool too_long() const { return too_long_; }
  /// Of lines given to `each`.
  std::uint64_t number() const { return number_; }

 private:
  bool give(std::string_view line, const std::function<bool(std::string_view)>& each);

  const std::size_t longest_;
  std::string begun_{};
  std::uint64_t number_ = 0;
  bool too_long_ = false;
};

/// "/api/models?author=…": a page of an owner's repositories.
std::string list_query(std::string_view owner);
struct Described {
  std::string name, description;  // "owner/name"
};
std::expected<std::vector<Described>, std::string> read_repositories(std::string_view body);

struct LogEntry {
  std::string id, title;
};
std::expected<std::vector<LogEntry>, std::string> read_log(std::string_view body);

/// Whether "whoami" says that these credentials may only read: a token's role, in Hugging Face's form. False where it
/// says nothing of that.
bool only_reads(std::string_view whoami);

/// The query of the Link with rel="next", if there is one.
std::optional<std::string> next_query(std::string_view link);

/// What a refusal says: "error", "message" or "detail" of a JSON body, else nothing.
std::string reason_of(std::string_view body);

}  // namespace stackgate::datastore_client::wire
