#include "services/datastore/git/names.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/base/ascii.hpp"

namespace stackgate::datastore::git {
namespace {

bool names_equal(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() &&
         std::ranges::equal(text, lower, [](char a, char b) { return ascii::to_lower(a) == b; });
}

/// HFS+ compares names without these (Apple TN1150): zero-width and direction marks, byte order mark.
std::size_t ignored_by_hfs(std::string_view text) {
  if (text.size() < 3) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) == 0xe2 && byte(1) == 0x80 &&
      ((byte(2) >= 0x8c && byte(2) <= 0x8f) || (byte(2) >= 0xaa && byte(2) <= 0xae)))
    return 3;
  if (byte(0) == 0xe2 && byte(1) == 0x81 && byte(2) >= 0xaa && byte(2) <= 0xaf) return 3;
  if (byte(0) == 0xef && byte(1) == 0xbb && byte(2) == 0xbf) return 3;
  return 0;
}

}  // namespace

bool means_dot_git(std::string_view segment) {
  std::string plain;
  for (std::size_t i = 0; i < segment.size();) {
    if (const std::size_t skip = ignored_by_hfs(segment.substr(i)); skip != 0) {
      i += skip;
    } else {
      plain.push_back(segment[i++]);
    }
  }
  std::string_view name = plain;
  // NTFS drops a stream's name, then dots and spaces at the end.
  name = name.substr(0, name.find(':'));
  while (name.ends_with('.') || name.ends_with(' ')) name.remove_suffix(1);
  return names_equal(name, ".git") || names_equal(name, "git~1");
}

std::optional<std::string> fault_of_path(std::string_view path) {
  if (path.empty()) return "the path is empty";
  if (path.size() > 4096) return "the path is longer than 4096 bytes";
  if (path.front() == '/') return "the path begins with '/'";
  if (path.back() == '/') return "the path ends with '/'";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) return "the path has a control character";
    if (c == '\\') return "the path has a backslash";
  }
  std::string_view rest = path;
  while (!rest.empty()) {
    const auto end = rest.find('/');
    const std::string_view segment = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (segment.empty()) return fmt::format("the path \"{}\" has an empty segment", path);
    if (segment == "." || segment == "..") return fmt::format("the path \"{}\" has a segment \"{}\"", path, segment);
    if (segment.size() > 255) return "a segment of the path is longer than 255 bytes";
    if (means_dot_git(segment)) return fmt::format("\"{}\" is a name that Git keeps for itself", segment);
  }
  return std::nullopt;
}

bool is_reference_name(std::string_view name) {
  if (name.empty() || name.size() > 1024 || name.find('/') == std::string_view::npos) return false;
  if (name.ends_with('.') || name.find("..") != std::string_view::npos || name.find("@{") != std::string_view::npos)
    return false;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7f || std::string_view("~^:?*[\\").find(c) != std::string_view::npos) return false;
  }
  for (std::string_view rest = name;;) {
    const auto end = rest.find('/');
    const std::string_view segment = rest.substr(0, end);
    if (segment.empty() || segment.front() == '.' || segment.ends_with(".lock")) return false;
    if (end == std::string_view::npos) return true;
    rest.remove_prefix(end + 1);
  }
}

std::optional<std::string> fault_of_branch_name(std::string_view name) {
  if (name.empty()) return "the name is empty";
  if (name.size() > 240) return "the name is longer than 240 bytes";
  if (name == "HEAD" || name == "@") return "the name is one that Git keeps for itself";
  if (name.front() == '-') return "the name begins with '-'";
  if (is_oid(name)) return "the name looks like a commit's";
  if (!is_reference_name(fmt::format("refs/heads/{}", name)))
    return fmt::format(
        "\"{}\" is no name for a branch or tag: no spaces, control characters or any of ~^:?*[\\, no \"..\" or "
        "\"@{{\", "
        "no segment that is empty, begins with '.' or ends in \".lock\"",
        name);
  return std::nullopt;
}

bool is_oid(std::string_view text) {
  return text.size() == 40 &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace stackgate::datastore::git
