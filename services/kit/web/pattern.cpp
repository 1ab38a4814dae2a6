#include <algorithm>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/http/text.hpp"
#include "services/kit/web/router.hpp"

namespace stackgate::web {
namespace pattern_detail {

bool is_literal(std::string_view text) {
  return http::all(http::Char::target, text) && text.find_first_of("{}%?") == std::string_view::npos;
}

bool is_name(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

std::expected<Segment, Error> parse_segment(std::string_view text, bool last) {
  if (!text.starts_with('{')) {
    if (is_literal(text)) return Segment{Segment::Kind::literal, text};
    return std::unexpected(Error{fmt::format(
        "\"{}\" is no literal: a parameter stands at the beginning of its segment, and %, ? and spaces have no place",
        text)});
  }
  const auto close = text.find('}');
  if (close == std::string_view::npos) return std::unexpected(Error{fmt::format("\"{}\" lacks its }}", text)});
  std::string_view name = text.substr(1, close - 1);
  const std::string_view end = text.substr(close + 1);
  if (!is_literal(end)) return std::unexpected(Error{fmt::format("\"{}\" has more than one parameter", text)});
  const bool rest = name.ends_with("...");
  if (rest) name.remove_suffix(3);
  if (!is_name(name))
    return std::unexpected(Error{fmt::format("\"{}\" is no parameter name: write a-z, 0-9 and _", name)});
  if (rest && (!last || !end.empty()))
    return std::unexpected(Error{fmt::format("\"{}\" takes the rest and must stand at the very end", text)});
  return Segment{rest ? Segment::Kind::rest : Segment::Kind::parameter, name, end};
}

}  // namespace pattern_detail

std::expected<std::vector<Segment>, Error> parse_pattern(std::string_view pattern) {
  if (!pattern.starts_with('/')) return std::unexpected(Error{"it must begin with /"});
  std::vector<Segment> segments;
  std::vector<std::string_view> names;
  std::string_view rest = pattern.substr(1);
  for (bool last = false; !last;) {
    const auto slash = rest.find('/');
    last = slash == std::string_view::npos;
    auto segment = TRY(pattern_detail::parse_segment(rest.substr(0, slash), last));
    if (segment.kind != Segment::Kind::literal) {
      if (std::ranges::find(names, segment.text) != names.end())
        return std::unexpected(Error{fmt::format("the parameter \"{}\" stands twice", segment.text)});
      names.push_back(segment.text);
    }
    segments.push_back(segment);
    if (!last) rest.remove_prefix(slash + 1);
  }
  if (names.size() > max_parameters)
    return std::unexpected(Error{fmt::format("it has more than {} parameters", max_parameters)});
  return segments;
}

}  // namespace stackgate::web
