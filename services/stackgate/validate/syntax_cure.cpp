#include "services/stackgate/validate/syntax_cure.hpp"

#include <algorithm>

namespace stackgate {

namespace {

std::string_view line_at(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  const std::size_t before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return text.substr(begin, text.find('\n', offset) - begin);
}

std::string_view cure_of(std::string_view problem, std::string_view text, std::size_t offset) {
  const auto says = [problem](std::string_view words) { return problem.find(words) != std::string_view::npos; };
  const std::string_view line = line_at(text, offset);
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return "this looks like UTF-16: save it as UTF-8";
  if (line.find("{{") != std::string_view::npos)
    return "this looks like a template: render it first, for example helm template . | stackgate validate -";
  if (line.find("\xEF\xBB\xBF") != std::string_view::npos)
    return "a byte order mark (U+FEFF, not visible) stands in this line: take it out";
  if (text.starts_with("<<<<<<< ") || text.find("\n<<<<<<< ") != std::string_view::npos)
    return "this is left of a merge: settle the conflict";
  if (says("tab character") || line.starts_with('\t')) return "indent with spaces: YAML takes no tabs";
  if (says("duplicate key \"apiVersion\"") || says("duplicate key \"kind\""))
    return "when this is another resource, put a line --- between the two";
  if (says("duplicate key")) return "keep one of them";
  if (says("UTF-8")) return "save the file as UTF-8";
  if (says("start any token")) return "put the value in quotes";
  if (says("mapping values are not allowed") || says("could not find expected ':'") || says("expected <block end>"))
    return "look here and in the lines above for a ':' without a space behind it, or for wrong indentation";
  if (says("quoted scalar")) return "close the quotes";
  if (says("flow")) return "close the bracket";
  return "mend this first";
}

}  // namespace

std::string syntax_cure(std::string_view problem, std::string_view text, std::size_t offset) {
  std::string out(cure_of(problem, text, offset));
  if (text.substr(std::min(offset, text.size())).find("\n---") != std::string_view::npos)
    out += "; the documents behind it in this file have not been checked";
  return out;
}

}  // namespace stackgate
