#include "services/kit/archive/entry_name.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/utf8.hpp"

namespace stackgate::archive {
namespace entry_name_detail {

/// Calls `visit` for every segment; empty ones too.
template <class Visit>
bool all_segments(std::string_view name, Visit visit) {
  while (true) {
    const auto slash = name.find('/');
    if (!visit(name.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
  }
}

}  // namespace entry_name_detail

std::expected<std::string, std::string> clean_name(std::string_view raw) {
  if (raw.starts_with('/')) return std::unexpected("has an absolute path");
  if (raw.size() >= 2 && raw[1] == ':' && ascii::is_letter(raw[0])) return std::unexpected("has a drive letter");
  if (raw.find('\\') != std::string_view::npos) return std::unexpected("has a backslash in its name");
  for (const char c : raw)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return std::unexpected("has a control character in its name");
  if (!utf8::is_valid(raw)) return std::unexpected("has a name that is no UTF-8");
  std::string out;
  const bool inside = entry_name_detail::all_segments(raw, [&](std::string_view segment) {
    if (segment == "..") return false;
    if (segment.empty() || segment == ".") return true;
    if (!out.empty()) out += '/';
    out += segment;
    return true;
  });
  if (!inside) return std::unexpected("leads out of the archive by \"..\"");
  if (out.size() > longest_name)
    return std::unexpected(fmt::format("has a name of {} bytes; the most is {}", out.size(), longest_name));
  return out;
}

bool is_litter(std::string_view name) {
  static constexpr std::array<std::string_view, 8> words = {
      ".git", ".gitattributes", ".gitignore", ".gitmodules", ".DS_Store", "__MACOSX", ".cache", ".ipynb_checkpoints"};
  return !entry_name_detail::all_segments(name, [](std::string_view segment) {
    const auto same = [segment](std::string_view word) { return ascii::equal_ignoring_case(segment, word); };
    return !segment.starts_with("._") && std::ranges::none_of(words, same);
  });
}

std::string common_folder(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  const auto slash = names[0].find('/');
  if (slash == std::string::npos) return {};
  std::string folder = names[0].substr(0, slash + 1);
  if (!std::ranges::all_of(names, [&](const std::string& name) { return name.starts_with(folder); })) return {};
  return folder;
}

}  // namespace stackgate::archive
