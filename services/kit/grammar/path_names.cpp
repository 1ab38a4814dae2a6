#include "services/kit/grammar/path_names.hpp"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

#include "services/kit/grammar/characters.hpp"

namespace stackgate::validate::grammar {
namespace {

bool has_parent_part(std::string_view path) {
  return std::ranges::any_of(std::views::split(path, '/'),
                             [](const auto& part) { return std::string_view(part) == ".."; });
}

}  // namespace

std::optional<Problem> check_relative_sub_path(std::string_view text) {
  if (text.empty())
    return Problem{"must not be empty",
                   "write a directory inside the volume, for example \"models\", or leave the field out"};
  if (const std::size_t at = text.find('\0'); at != std::string_view::npos)
    return Problem{fmt::format("must not contain {}", place_character(text, at)),
                   "write a plain path, for example \"models\""};
  if (has_parent_part(text))
    return Problem{"must not contain the part \"..\"", "write a path inside the volume, for example \"models\""};
  if (text[0] == '/') {
    const std::size_t begin = std::min(text.find_first_not_of('/'), text.size());
    const std::string inside = quote_short(text.substr(begin));
    return Problem{"must be relative, but begins with '/'",
                   inside.empty() ? "leave the field out for the whole volume" : fmt::format("write {}", inside)};
  }
  return std::nullopt;
}

std::optional<Problem> check_mount_path(std::string_view text) {
  if (text.empty()) return Problem{"must not be empty", "write an absolute path, for example \"/data\""};
  if (const std::size_t at = text.find_first_of(std::string_view(":\0", 2)); at != std::string_view::npos)
    return Problem{fmt::format("must not contain {}", place_character(text, at)),
                   "write an absolute path, for example \"/data\""};
  if (text[0] != '/') {
    const std::string rooted = quote_short("/" + std::string(text.substr(0, 100)));
    return Problem{"must be absolute, but does not begin with '/'",
                   rooted.empty() ? "write an absolute path, for example \"/data\"" : fmt::format("write {}", rooted)};
  }
  if (has_parent_part(text)) return Problem{"must not contain the part \"..\"", "write the path without \"..\""};
  return std::nullopt;
}

}  // namespace stackgate::validate::grammar
