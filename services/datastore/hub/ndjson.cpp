#include "services/datastore/hub/ndjson.hpp"

#include <algorithm>
#include <utility>

#include "services/datastore/git/names.hpp"
#include "services/datastore/lfs/large_files.hpp"
#include "services/kit/base/base64.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::datastore::hub {

namespace {

constexpr std::size_t read_at_once = 128UL * 1024;
constexpr std::uint64_t line_without_content = 64UL * 1024;

std::unexpected<web::Failure> bad_line(int status, std::string message) {
  return std::unexpected(web::Failure{.status = status, .message = std::move(message)});
}

std::expected<std::string, web::Failure> content_of(const json::Value& value, std::uint64_t largest) {
  const json::Value* content = value.find("content");
  if (content == nullptr || !content->is_string()) return bad_line(400, "\"content\" must be a string");
  const std::string_view encoding = json::text_at(value, "encoding");
  std::string out;
  if (encoding == "base64") {
    auto decoded = base64::decode(content->string());
    if (!decoded) return bad_line(400, "\"content\" is not base64");
    out = std::move(*decoded);
  } else if (encoding.empty() || encoding == "utf-8") {
    out = content->string();
  } else {
    return bad_line(400, "\"encoding\" must be \"base64\" or \"utf-8\"");
  }
  if (out.size() > largest)
    return bad_line(413,
                    "the file has more than " + std::to_string(largest) + " bytes; upload it as a large file (LFS)");
  return out;
}

}  // namespace

std::expected<CommitLine, web::Failure> parse_commit_line(std::string_view text, std::uint64_t largest) {
  json::Document document;
  const auto root = json::parse(text, document, {.max_depth = 16});
  if (!root)
    return bad_line(400, "not JSON: " + root.error().message + " at byte " + std::to_string(root.error().offset));
  const std::string key(json::text_at(*root, "key"));
  const json::Value* value = root->find("value");
  if (key.empty() || value == nullptr || !value->is_object())
    return bad_line(400, R"(each line must be {"key": "…", "value": {…}})");
  using Kind = CommitLine::Kind;
  constexpr std::pair<std::string_view, Kind> kinds[] = {{"header", Kind::header},
                                                         {"file", Kind::file},
                                                         {"lfsFile", Kind::lfs_file},
                                                         {"deletedFile", Kind::deleted_file},
                                                         {"deletedFolder", Kind::deleted_folder}};
  const auto* kind = std::ranges::find(kinds, key, [](const auto& each) { return each.first; });
  if (kind == std::end(kinds))
    return bad_line(400, (key.size() <= 64 ? "\"" + key + "\" is not a known key; " : std::string()) +
                             "\"key\" must be header, file, lfsFile, deletedFile or deletedFolder");
  CommitLine out{.kind = kind->second};
  if (out.kind == Kind::header) {
    out.summary = json::text_at(*value, "summary");
    out.description = json::text_at(*value, "description");
    out.parent = json::text_at(*value, "parentCommit");
    if (out.summary.empty()) return bad_line(400, "the header's \"summary\" must say what the commit does");
    if (!out.parent.empty() && !git::is_oid(out.parent))
      return bad_line(400, "the header's \"parentCommit\" must be a commit id of 40 hex digits");
    return out;
  }
  out.path = json::text_at(*value, "path");
  if (out.kind == Kind::deleted_folder && out.path.ends_with('/')) out.path.pop_back();
  if (const auto fault = git::fault_of_path(out.path)) return bad_line(400, "\"path\" " + out.path + ": " + *fault);
  if (out.kind == Kind::file) {
    out.content = TRY(content_of(*value, largest));
  } else if (out.kind == Kind::lfs_file) {
    out.oid = json::text_at(*value, "oid");
    const json::Value* size = value->find("size");
    if (const std::string_view algorithm = json::text_at(*value, "algo"); !algorithm.empty() && algorithm != "sha256")
      return bad_line(400, "\"algo\" must be \"sha256\"");
    if (!lfs::is_oid(out.oid)) return bad_line(400, "\"oid\" must be a SHA-256 in 64 lower-case hex digits");
    if (size == nullptr || !size->is_integer() || size->integer() < 0)
      return bad_line(400, "\"size\" must be a whole number of bytes");
    out.size = static_cast<std::uint64_t>(size->integer());
  }
  return out;
}

CommitLines::CommitLines(ReadMore read, std::uint64_t largest_file)
    : read_(std::move(read)),
      largest_file_(largest_file),
      // Base64 takes four characters for three bytes; a text in JSON may take six for one, but rarely does.
      longest_line_(static_cast<std::size_t>(largest_file * 3 / 2 + line_without_content)) {}

std::expected<bool, web::Failure> CommitLines::fill() {
  if (ended_) return false;
  if (begin_ > 0) {
    buffer_.erase(0, begin_);
    scanned_ -= begin_;
    begin_ = 0;
  }
  const std::size_t had = buffer_.size();
  if (had > longest_line_)
    return bad_line(413, "line " + std::to_string(number_ + 1) + " is too long: files of more than " +
                             std::to_string(largest_file_) + " bytes are uploaded as large files (LFS)");
  buffer_.resize(had + read_at_once);
  const auto got = read_(std::span(buffer_).subspan(had));
  if (!got) {
    buffer_.resize(had);
    return bad_line(got.error().status == 0 ? 400 : got.error().status, got.error().error.message);
  }
  buffer_.resize(had + *got);
  ended_ = *got == 0;
  return !ended_;
}

std::expected<std::optional<CommitLine>, web::Failure> CommitLines::next() {
  for (;;) {
    const auto end = buffer_.find('\n', scanned_);
    if (end == std::string::npos) {
      scanned_ = buffer_.size();
      const auto more = TRY(fill());
      if (more) continue;
      if (begin_ == buffer_.size()) return std::nullopt;
    }
    const std::size_t stop = std::min(end, buffer_.size());
    std::string_view line = std::string_view(buffer_).substr(begin_, stop - begin_);
    if (line.ends_with('\r')) line.remove_suffix(1);
    begin_ = scanned_ = std::min(stop + 1, buffer_.size());
    ++number_;
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    auto parsed = parse_commit_line(line, largest_file_);
    if (!parsed) {
      parsed.error().message = "line " + std::to_string(number_) + ": " + parsed.error().message;
      return std::unexpected(std::move(parsed.error()));
    }
    return std::move(*parsed);
  }
}

}  // namespace stackgate::datastore::hub
