#include "services/stackgate/validate/syntax_cure.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace stackgate {

namespace {

std::string_view line_at(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  const std::size_t before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return text.substr(begin, text.find('\n', offset) - begin);
}

/// `//` or `/*` at the beginning of one of the lines, as in what some editors call JSON.
bool has_comment_lines(std::string_view text) {
  for (std::size_t slash = text.find('/'); slash != std::string_view::npos; slash = text.find('/', slash + 1)) {
    const std::size_t before = slash == 0 ? std::string_view::npos : text.find_last_not_of(" \t", slash - 1);
    const bool is_first = before == std::string_view::npos || text[before] == '\n';
    if (is_first && (text.substr(slash).starts_with("//") || text.substr(slash).starts_with("/*"))) return true;
  }
  return false;
}

std::string_view cure_of(std::string_view problem, std::string_view text, std::size_t offset) {
  const auto mentions = [problem](std::string_view words) { return problem.find(words) != std::string_view::npos; };
  const std::string_view line = line_at(text, offset);
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return "this looks like UTF-16: save it as UTF-8";
  if (text.substr(0, offset + 1).find('\0') != std::string_view::npos || text.starts_with("\x1F\x8B"))
    return "this is no text: unpack or decode it first";
  if (mentions("control characters")) return "take the character out, or write it as \"\\x1b\" in double quotes";
  if (line.find("{{") != std::string_view::npos)
    return "this looks like a template: render it first, for example helm template . | stackgate validate -";
  if (text.starts_with("<<<<<<< ") || text.find("\n<<<<<<< ") != std::string_view::npos)
    return "this is left of a merge: settle the conflict";
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first != std::string_view::npos && text[first] == '{' &&
      has_comment_lines(text.substr(0, text.find('\n', std::min(offset, text.size())))))
    return "JSON has no comments: take them out";
  if (mentions("tab character") || line.starts_with('\t')) return "indent with spaces: YAML takes no tabs";
  if (mentions("duplicate key \"apiVersion\"") || mentions("duplicate key \"kind\""))
    return "when this is another resource, put a line --- between the two";
  if (mentions("duplicate key")) return "keep one of them";
  if (mentions("UTF-8")) return "save the file as UTF-8";
  if (mentions("start any token")) return "put the value in quotes";
  if (mentions("mapping values are not allowed") || mentions("could not find expected ':'") ||
      mentions("expected <block end>"))
    return "look here and in the lines above for a ':' without a space behind it, or for wrong indentation";
  if (mentions("quoted scalar")) return "close the quotes";
  if (mentions("flow")) return "close the bracket";
  if (mentions("<document start>")) return "put a line --- between two documents";
  return "mend this first";
}

/// The line, counted from 1, of the last byte order mark that is not the text's first character, up to the end of the
/// line at `offset`: the reader stumbles over it or over what follows it. 0 when there is none.
std::size_t line_of_byte_order_mark(std::string_view text, std::size_t offset) {
  const std::string_view read = text.substr(0, text.find('\n', std::min(offset, text.size())));
  const std::size_t mark = read.rfind("\xEF\xBB\xBF");
  if (mark == std::string_view::npos || mark == 0) return 0;
  return static_cast<std::size_t>(std::ranges::count(read.substr(0, mark), '\n')) + 1;
}

}  // namespace

std::string syntax_cure(std::string_view problem, std::string_view text, std::size_t offset) {
  const std::size_t marked = line_of_byte_order_mark(text, offset);
  std::string out = marked > 0
                        ? fmt::format("a byte order mark (U+FEFF, not visible) stands in line {}: take it out", marked)
                        : std::string(cure_of(problem, text, offset));
  if (text.substr(std::min(offset, text.size())).find("\n---") != std::string_view::npos)
    out += "; the documents behind it in this file have not been checked";
  return out;
}

}  // namespace stackgate
