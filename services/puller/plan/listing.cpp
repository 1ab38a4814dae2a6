#include "services/puller/plan/listing.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/datastore_client/wire.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::puller {
namespace listing_detail {

constexpr std::size_t longest_name = 253;
constexpr json::ParseLimits limits{.max_depth = 16, .max_bytes = 32U << 20U};

std::unexpected<Failure> bad(std::string message) {
  return std::unexpected(
      Failure{Cause::bad_answer, std::move(message), "check that the endpoint speaks the Hugging Face API"});
}
std::unexpected<Failure> wrong(std::string message, std::string cure) {
  return std::unexpected(Failure{Cause::settings, std::move(message), std::move(cure)});
}

bool is_name(std::string_view text) {
  return !text.empty() && text != "." && text != ".." && std::ranges::all_of(text, [](char c) {
    return ascii::is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
  });
}

bool is_revision(std::string_view text) {
  return text.size() <= longest_name && !text.empty() && !text.contains("..") && std::ranges::all_of(text, [](char c) {
           return static_cast<unsigned char>(c) > 0x20 && c != 0x7f && c != '\\';
         });
}

}  // namespace listing_detail

Result<std::string> read_revision(std::string_view body) {
  using namespace listing_detail;
  json::Document document;
  const auto root = json::parse(body, document, limits);
  if (!root) return bad(fmt::format("the server's answer about the model is no JSON: {}", root.error().message));
  const std::string_view sha = json::text(&*root, {"sha"});
  if (!is_hex_of(sha, 40)) return bad("the server's answer about the model names no commit (\"sha\")");
  return std::string(sha);
}

Result<std::vector<RemoteFile>> read_tree_page(std::string_view body) {
  using namespace listing_detail;
  if (body.size() > limits.max_bytes) return bad("the list of files is too large");
  const auto tree = datastore_client::wire::read_tree(body);
  if (!tree) return bad(tree.error());
  std::vector<RemoteFile> out;
  out.reserve(tree->size());
  for (const auto& entry : *tree) {
    RemoteFile file{.path = entry.path, .size = entry.size, .sha256 = entry.sha256};
    if (file.sha256.empty()) file.blob = entry.blob;  // of a large file it is the pointer's
    out.push_back(std::move(file));
  }
  return out;
}

Result<std::vector<RemoteFile>> read_checksum_list(std::string_view text) {
  using namespace listing_detail;
  std::vector<RemoteFile> out;
  for (int line = 1; !text.empty(); ++line) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (row.empty() || row.starts_with('#')) continue;
    const bool formed = row.size() > 66 && row[64] == ' ' && (row[65] == ' ' || row[65] == '*');
    if (!formed)
      return std::unexpected(Failure{
          Cause::bad_answer, fmt::format("line {} of the checksum list is not \"<64 hex digits>  <path>\"", line),
          "make it with sha256sum"});
    std::string_view path = row.substr(66);
    if (path.starts_with("./")) path.remove_prefix(2);
    out.push_back({.path = std::string(path), .sha256 = ascii::to_lower(row.substr(0, 64))});
    if (out.size() > most_files) break;  // the check says so
  }
  if (out.empty())
    return std::unexpected(Failure{Cause::bad_answer, "the checksum list names no file", "make it with sha256sum"});
  TRY(check_listing(out));
  return out;
}

Result<Model> read_model(std::string_view text) {
  using namespace listing_detail;
  const auto at = text.find('@');
  Model out{.repository = std::string(text.substr(0, at)),
            .revision = at == std::string_view::npos ? std::string() : std::string(text.substr(at + 1))};
  const std::string_view name = out.repository;
  const auto slash = name.find('/');
  const bool good =
      name.size() <= longest_name &&
      (slash == std::string_view::npos ? is_name(name)
                                       : is_name(name.substr(0, slash)) && is_name(name.substr(slash + 1)));
  if (!good) return wrong("a model is named OWNER/NAME[@REVISION]", "write for example meta-llama/Llama-3.2-1B@main");
  if (at != std::string_view::npos && !is_revision(out.revision))
    return wrong("a revision is a branch, a tag or a commit", "write for example main");
  return out;
}

Result<std::string> read_profiles(std::string_view text) {
  using namespace listing_detail;
  if (text.empty()) return std::string();
  json::Document document;
  const auto root = json::parse(text, document, limits);
  if (!root || !root->is_array())
    return wrong("STACKGATE_PULL_PROFILES is no JSON list of names", "write [\"OWNER/NAME\"]");
  if (root->items().size() != 1)
    return wrong(
        fmt::format("{} profiles are named, and this puller fills a claim with one model", root->items().size()),
        "make an InferenceCache for each of them");
  const std::string_view name = root->items()[0].string();
  if (name == "all") return wrong("\"all\" names no model", "name one: OWNER/NAME, with @REVISION or without");
  return std::string(name);
}

}  // namespace stackgate::puller
