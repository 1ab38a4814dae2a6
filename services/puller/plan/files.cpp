#include "services/puller/plan/files.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/utf8.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::puller {
namespace files_detail {

constexpr std::size_t longest_path = 1024, longest_part = 255, longest_shown = 120;

/// In quotation marks, cut, and safe for a log whatever it is.
std::string shown(std::string_view path) {
  std::string text(path.substr(0, longest_shown)), out;
  if (!utf8::is_valid(text)) std::ranges::replace_if(text, [](char c) { return static_cast<signed char>(c) < 0; }, '?');
  json::append_quoted(out, text);
  return out;
}

std::optional<std::string> fault_of_part(std::string_view part) {
  if (part.empty()) return "has an empty part";
  if (part == "." || part == "..") return fmt::format("has the part \"{}\"", part);
  if (part.size() > longest_part) return fmt::format("has a part of more than {} bytes", longest_part);
  return std::nullopt;
}

Failure refuse(std::string_view path, std::string_view why) {
  return {Cause::bad_answer, fmt::format("the server names the file {}, which {}", shown(path), why),
          "nothing was written; tell whoever runs the server"};
}

/// "a/b" where "a" is a file as well.
std::optional<std::string> folder_that_is_file(const std::set<std::string_view>& paths) {
  for (const std::string_view path : paths)
    for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1))
      if (paths.contains(path.substr(0, slash))) return std::string(path);
  return std::nullopt;
}

}  // namespace files_detail

bool is_hex_of(std::string_view text, std::size_t digits) {
  return text.size() == digits &&
         std::ranges::all_of(text, [](char c) { return ascii::is_digit(c) || (c >= 'a' && c <= 'f'); });
}

std::optional<std::string> fault_of_path(std::string_view path) {
  using namespace files_detail;
  if (path.empty()) return "is empty";
  if (path.size() > longest_path) return fmt::format("is longer than {} bytes", longest_path);
  if (path.starts_with('/')) return "is absolute";
  if (!utf8::is_valid(path)) return "is no UTF-8";
  for (const char c : path) {
    if (c == '\\') return "has a backslash";
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return "has a control character";
  }
  const std::string_view first = path.substr(0, path.find('/'));
  if (first == staging_name || first == manifest_name) return "is a name of the puller's own";
  for (std::string_view rest = path;;) {
    const auto slash = rest.find('/');
    if (auto fault = fault_of_part(rest.substr(0, slash))) return fault;
    if (slash == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(slash + 1);
  }
}

Result<void> check_listing(const std::vector<RemoteFile>& files) {
  using namespace files_detail;
  if (files.size() > most_files)
    return std::unexpected(Failure{Cause::bad_answer, fmt::format("the server names more than {} files", most_files)});
  std::set<std::string_view> paths;
  for (const RemoteFile& file : files) {
    if (const auto fault = fault_of_path(file.path)) return std::unexpected(refuse(file.path, *fault));
    if (!paths.insert(file.path).second) return std::unexpected(refuse(file.path, "is named twice"));
    if (file.size && *file.size > largest_file)
      return std::unexpected(refuse(file.path, fmt::format("is said to have {} bytes", *file.size)));
    if (!file.sha256.empty() && !is_hex_of(file.sha256, 64))
      return std::unexpected(refuse(file.path, "has a SHA-256 that is none"));
    if (!file.blob.empty() && !is_hex_of(file.blob, 40))
      return std::unexpected(refuse(file.path, "has a Git object id that is none"));
    if (file.sha256.empty() && file.blob.empty()) return std::unexpected(refuse(file.path, "has no checksum"));
  }
  if (const auto path = folder_that_is_file(paths))
    return std::unexpected(refuse(*path, "lies below a path that is a file as well"));
  return {};
}

}  // namespace stackgate::puller
