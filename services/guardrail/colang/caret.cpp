// A finding with the line that it is about.
#include <charconv>

#include "services/guardrail/colang/compile.hpp"
#include "services/kit/base/concat.hpp"
#include "services/kit/base/utf8.hpp"

namespace stackgate::guardrail::colang {
namespace {

constexpr std::size_t widest = 160;  // characters shown before the caret, and bytes of a line

}  // namespace

std::string with_caret(const validate::Finding& finding, std::span<const Source> sources) {
  std::string out =
      concat({finding.path, ": ", finding.severity == validate::Severity::error ? "" : "warning: ", finding.problem});
  for (const Source& source : sources) {
    // The path is the name, line and column.
    if (!finding.path.starts_with(source.name) || finding.path.size() <= source.name.size() ||
        finding.path[source.name.size()] != ':' || finding.offset > source.text.size())
      continue;
    if (finding.path.find_first_not_of("0123456789:", source.name.size()) != std::string::npos) continue;
    const std::string_view text = source.text;
    const std::size_t before = finding.offset == 0 ? std::string_view::npos : text.rfind('\n', finding.offset - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    std::string_view line = text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (finding.offset - begin > widest || line.size() > 4 * widest || !utf8::is_valid(line)) break;
    out += concat({"\n  ", line, "\n  "});
    for (std::size_t at = 0; at < finding.offset - begin && at < line.size();
         at += utf8::sequence_length(line.substr(at)))
      out += line[at] == '\t' ? '\t' : ' ';
    out += '^';
    break;
  }
  if (!finding.fix.empty()) out += concat({"\n  ", finding.fix});
  return out;
}

}  // namespace stackgate::guardrail::colang
