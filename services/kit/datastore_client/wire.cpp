#include "services/kit/datastore_client/wire.hpp"

#include <fmt/format.h>

#include "services/kit/base/base64.hpp"
#include "services/kit/base/percent.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/web/query.hpp"

namespace stackgate::datastore_client::wire {
namespace wire_detail {

std::string text_of(const json::Value& object, std::string_view name) {
  const json::Value* value = object.find(name);
  return value == nullptr ? std::string() : std::string(value->string());
}

std::pair<std::string_view, std::string_view> split(std::string_view repository) {
  const auto slash = repository.find('/');
  return {repository.substr(0, slash), repository.substr(slash + 1)};
}

std::optional<Action> action_of(const json::Value* actions, std::string_view name) {
  const json::Value* action = actions == nullptr ? nullptr : actions->find(name);
  if (action == nullptr || text_of(*action, "href").empty()) return std::nullopt;
  Action out{.href = text_of(*action, "href"), .headers = {}};
  if (const json::Value* headers = action->find("header"))
    for (const json::Member& header : headers->members())
      out.headers.emplace_back(std::string(header.key), std::string(header.value.string()));
  return out;
}

void line(std::string& out, std::string_view key, auto&& body) {
  json::Writer w(out);
  w.object([&] {
    w.member("key", key);
    w.object("value", [&] { body(w); });
  });
  out += '\n';
}

template <class Read>
auto read_json(std::string_view body, std::string_view what, Read&& read)
    -> std::expected<decltype(read(json::Value())), std::string> {
  json::Document document;
  const auto root = json::parse(body, document);
  if (!root) return std::unexpected(fmt::format("the datastore's {} is no JSON: {}", what, root.error().message));
  return read(*root);
}

}  // namespace wire_detail

std::string base_of(std::string_view datastore_url) {
  while (datastore_url.ends_with('/')) datastore_url.remove_suffix(1);
  if (datastore_url.ends_with("/v1/hf")) return std::string(datastore_url);
  return fmt::format("{}/v1/hf", datastore_url);
}

std::string api_url(std::string_view base, std::string_view repository, std::string_view rest) {
  return fmt::format("{}/api/models/{}{}", base, percent_encode(repository, "/"), rest);
}

std::string resolve_url(std::string_view base, std::string_view repository, std::string_view revision,
                        std::string_view path) {
  return fmt::format("{}/{}/resolve/{}/{}", base, percent_encode(repository, "/"), percent_encode(revision),
                     percent_encode(path, "/"));
}

std::string dataset_url(std::string_view base, std::string_view repository, std::string_view rest) {
  return fmt::format("{}/api/datasets/{}{}", base, percent_encode(repository, "/"), rest);
}

std::string dataset_file_url(std::string_view base, std::string_view repository, std::string_view revision,
                             std::string_view path) {
  return resolve_url(fmt::format("{}/datasets", base), repository, revision, path);
}

std::string batch_url(std::string_view base, std::string_view repository) {
  return fmt::format("{}/{}.git/info/lfs/objects/batch", base, percent_encode(repository, "/"));
}

std::string create_body(std::string_view repository, bool is_private) {
  const auto parts = wire_detail::split(repository);
  return json::object_text([&](json::Writer& w) {
    w.member("type", "model");
    w.member("organization", parts.first);
    w.member("name", parts.second);
    w.member("private", is_private);
  });
}

std::string delete_body(std::string_view repository) {
  const auto parts = wire_detail::split(repository);
  return json::object_text([&](json::Writer& w) {
    w.member("type", "model");
    w.member("organization", parts.first);
    w.member("name", parts.second);
  });
}

std::string repository_path(std::string_view repository) {
  return fmt::format("/api/v1/repos/{}", percent_encode(repository, "/"));
}

std::expected<std::string, std::string> read_description(std::string_view body) {
  return wire_detail::read_json(body, "answer about a repository",
                                [](const json::Value& root) { return wire_detail::text_of(root, "description"); });
}

std::string batch_body(const std::vector<Object>& objects) {
  return json::object_text([&](json::Writer& w) {
    w.member("operation", "upload");
    w.array("transfers", [&] { w.value("basic"); });
    w.member("hash_algo", "sha256");
    w.array("objects", [&] {
      for (const Object& object : objects)
        w.object([&] {
          w.member("oid", std::string_view(object.oid));
          w.member("size", object.size);
        });
    });
  });
}

std::expected<std::map<std::string, Transfer>, std::string> read_batch(std::string_view body) {
  using Out = std::expected<std::map<std::string, Transfer>, std::string>;
  auto read = TRY(wire_detail::read_json(body, "LFS answer", [](const json::Value& root) -> Out {
    const json::Value* objects = root.find("objects");
    if (objects == nullptr || !objects->is_array())
      return std::unexpected(std::string("the datastore's LFS answer has no objects"));
    std::map<std::string, Transfer> out;
    for (const json::Value& object : objects->items()) {
      Transfer& transfer = out[wire_detail::text_of(object, "oid")];
      const json::Value* actions = object.find("actions");
      transfer.upload = wire_detail::action_of(actions, "upload");
      transfer.verify = wire_detail::action_of(actions, "verify");
      if (const json::Value* error = object.find("error")) {
        const json::Value* code = error->find("code");
        transfer.error =
            fmt::format("{}: {}", code == nullptr ? 0 : code->integer(), wire_detail::text_of(*error, "message"));
      }
    }
    return out;
  }));
  return read;
}

std::string commit_body(const Commit& commit) {
  namespace d = wire_detail;
  std::string out;
  d::line(out, "header", [&](json::Writer& w) {
    w.member("summary", std::string_view(commit.summary));
    w.member("description", std::string_view(commit.description));
    if (!commit.parent.empty()) w.member("parentCommit", std::string_view(commit.parent));
  });
  for (const std::string& path : commit.deleted)
    d::line(out, "deletedFile", [&](json::Writer& w) { w.member("path", std::string_view(path)); });
  for (const CommitFile& file : commit.files) {
    if (file.large) {
      d::line(out, "lfsFile", [&](json::Writer& w) {
        w.member("path", std::string_view(file.path));
        w.member("algo", "sha256");
        w.member("oid", std::string_view(file.large->oid));
        w.member("size", file.large->size);
      });
    } else {
      d::line(out, "file", [&](json::Writer& w) {
        w.member("path", std::string_view(file.path));
        w.member("content", base64::encode(file.content));
        w.member("encoding", "base64");
      });
    }
  }
  return out;
}

std::expected<std::string, std::string> read_commit(std::string_view body) {
  auto read = wire_detail::read_json(body, "answer to the commit",
                                     [](const json::Value& root) { return wire_detail::text_of(root, "commitOid"); });
  if (read && read->empty()) return std::unexpected("the datastore's answer to the commit names none");
  return read;
}

std::expected<Refs, std::string> read_refs(std::string_view body) {
  return wire_detail::read_json(body, "list of references", [](const json::Value& root) {
    Refs out;
    if (const json::Value* branches = root.find("branches"))
      for (const json::Value& branch : branches->items())
        if (wire_detail::text_of(branch, "name") == "main") out.main = wire_detail::text_of(branch, "targetCommit");
    if (const json::Value* tags = root.find("tags"))
      for (const json::Value& tag : tags->items())
        out.tags[wire_detail::text_of(tag, "name")] = wire_detail::text_of(tag, "targetCommit");
    return out;
  });
}

std::expected<std::vector<TreeFile>, std::string> read_tree(std::string_view body) {
  return wire_detail::read_json(body, "list of files", [](const json::Value& root) {
    std::vector<TreeFile> out;
    for (const json::Value& entry : root.items()) {
      if (wire_detail::text_of(entry, "type") != "file") continue;
      TreeFile file{
          .path = wire_detail::text_of(entry, "path"), .sha256 = {}, .blob = wire_detail::text_of(entry, "oid")};
      if (const json::Value* size = entry.find("size")) file.size = static_cast<std::uint64_t>(size->integer());
      if (const json::Value* lfs = entry.find("lfs")) file.sha256 = wire_detail::text_of(*lfs, "oid");
      out.push_back(std::move(file));
    }
    return out;
  });
}

std::string list_query(std::string_view owner) { return fmt::format("author={}&limit=500", percent_encode(owner)); }

std::expected<std::vector<Described>, std::string> read_repositories(std::string_view body) {
  return wire_detail::read_json(body, "list of repositories", [](const json::Value& root) {
    std::vector<Described> out;
    for (const json::Value& each : root.items())
      out.push_back({wire_detail::text_of(each, "id"), wire_detail::text_of(each, "description")});
    return out;
  });
}

std::expected<std::vector<LogEntry>, std::string> read_log(std::string_view body) {
  return wire_detail::read_json(body, "list of commits", [](const json::Value& root) {
    std::vector<LogEntry> out;
    for (const json::Value& entry : root.items())
      out.push_back({wire_detail::text_of(entry, "id"), wire_detail::text_of(entry, "title")});
    return out;
  });
}

bool only_reads(std::string_view whoami) {
  json::Document document;
  const auto root = json::parse(whoami, document);
  const json::Value* at = root ? &*root : nullptr;
  for (const std::string_view key : {"auth", "accessToken"}) at = at == nullptr ? nullptr : at->find(key);
  return at != nullptr && wire_detail::text_of(*at, "role") == "read";
}

std::optional<std::string> next_query(std::string_view link) {
  const auto rel = link.find("rel=\"next\"");
  if (rel == std::string_view::npos) return std::nullopt;
  const auto open = link.rfind('<', rel);
  const auto close = link.find('>', open == std::string_view::npos ? rel : open);
  if (open == std::string_view::npos || close == std::string_view::npos || close > rel) return std::nullopt;
  const std::string_view url = link.substr(open + 1, close - open - 1);
  const auto mark = url.find('?');
  if (mark == std::string_view::npos) return std::nullopt;
  return std::string(url.substr(mark + 1));
}

std::string reason_of(std::string_view body) {
  json::Document document;
  const auto root = json::parse(body, document);
  if (!root) return {};
  for (const std::string_view name : {"error", "message", "detail"})
    if (std::string text = wire_detail::text_of(*root, name); !text.empty()) return text.substr(0, 500);
  return {};
}

std::expected<std::string, std::string> read_commit_of(std::string_view body) {
  const auto commit = wire_detail::read_json(body, "description",
                                             [](const json::Value& root) { return wire_detail::text_of(root, "sha"); });
  if (commit && commit->empty()) return std::unexpected("the datastore's description names no commit");
  return commit;
}

bool LineSplitter::give(std::string_view line, const std::function<bool(std::string_view)>& each) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.size() > longest_) {
    too_long_ = true;
    return false;
  }
  ++number_;
  return each(line);
}

bool LineSplitter::feed(std::string_view piece, const std::function<bool(std::string_view)>& each) {
  for (std::size_t end = piece.find('\n'); end != std::string_view::npos; end = piece.find('\n')) {
    const std::string_view line = piece.substr(0, end);
    piece.remove_prefix(end + 1);
    bool more = false;
    if (begun_.empty()) {
      more = give(line, each);
    } else {
      begun_ += line;
      more = give(begun_, each);
      begun_.clear();
    }
    if (!more) return false;
  }
  begun_ += piece;
  too_long_ = begun_.size() > longest_ + 1;
  return !too_long_;
}

bool LineSplitter::end(const std::function<bool(std::string_view)>& each) {
  return begun_.empty() || give(std::exchange(begun_, {}), each);
}

}  // namespace stackgate::datastore_client::wire
