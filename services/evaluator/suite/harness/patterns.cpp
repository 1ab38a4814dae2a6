#include "services/evaluator/suite/harness/patterns.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <re2/re2.h>

#include "services/kit/base/ascii.hpp"
#include "services/kit/jinja/unicode.hpp"

namespace stackgate::evaluator::harness {
namespace {

// White space by str.isspace(), without and within brackets.
constexpr std::string_view space = R"(\s\x{0b}\x{1c}-\x{1f}\x{85}\p{Z})";

/// What stands for Python's escape `c`; "": as it is.
std::string_view translated(char c, bool in_class) {
  switch (c) {
    case 'd':
      return R"(\p{Nd})";
    case 'D':
      return R"(\P{Nd})";
    case 'w':
      return in_class ? R"(\p{L}\p{N}_)" : R"([\p{L}\p{N}_])";
    case 'W':
      return in_class ? "" : R"([^\p{L}\p{N}_])";
    case 's':
      return in_class ? space : R"([\s\x{0b}\x{1c}-\x{1f}\x{85}\p{Z}])";
    case 'S':
      return in_class ? "" : R"([^\s\x{0b}\x{1c}-\x{1f}\x{85}\p{Z}])";
    case 'Z':
      return in_class ? "" : R"(\z)";
    default:
      return "";
  }
}

/// Whether a flag makes `$` the end of a line: "(?m)", "(?im:".
bool has_lines(std::string_view python) {
  for (std::size_t at = python.find("(?"); at != std::string_view::npos; at = python.find("(?", at + 2)) {
    const std::string_view flags = python.substr(at + 2);
    if (flags.substr(0, flags.find_first_not_of("aiLmsux")).contains('m')) return true;
  }
  return false;
}

std::string to_re2(std::string_view python) {
  const bool lines = has_lines(python);
  std::string out;
  bool in_class = false;
  for (std::size_t i = 0; i < python.size(); ++i) {
    const char c = python[i];
    if (c == '\\' && i + 1 < python.size()) {
      const char escaped = python[++i];
      if (const std::string_view other = translated(escaped, in_class); !other.empty())
        out += other;
      else
        out.append({'\\', escaped});
      continue;
    }
    if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
      // A bracket that comes first is one of the class.
      out += c;
      if (python.substr(i + 1).starts_with('^')) out += python[++i];
      if (python.substr(i + 1).starts_with(']')) {
        out += "\\]";
        ++i;
      }
      continue;
    } else if (c == '$' && !lines) {
      out += R"((?:\n?\z))";
      continue;
    } else if (c == '{' && python.substr(i + 1).starts_with(',')) {
      out += "{0";
      continue;
    }
    out += c;
  }
  return out;
}

/// The group that a replacement names at `at`, which is behind a backslash, and where it ends.
std::optional<std::pair<std::size_t, std::size_t>> group_at(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  if (!rest.empty() && rest[0] >= '1' && rest[0] <= '9')
    return std::pair{static_cast<std::size_t>(rest[0] - '0'), at + 1};
  if (!rest.starts_with("g<") || rest.size() < 4 || !ascii::is_digit(rest[2]) || rest[3] != '>') return std::nullopt;
  return std::pair{static_cast<std::size_t>(rest[2] - '0'), at + 4};
}

using Groups = std::vector<re2::StringPiece>;

void append_replacement(std::string& out, std::string_view replacement, std::span<const re2::StringPiece> groups) {
  for (std::size_t i = 0; i < replacement.size(); ++i) {
    if (replacement[i] != '\\' || i + 1 == replacement.size()) {
      out += replacement[i];
    } else if (const auto group = group_at(replacement, i + 1)) {
      if (group->first < groups.size()) out.append(groups[group->first].data(), groups[group->first].size());
      i = group->second - 1;
    } else {
      const char c = replacement[++i];
      out += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
  }
}

/// A pattern without the look-around at its ends.
struct Framed {
  std::string_view before{}, pattern{}, behind{};
  bool is_framed = false;
};

/// Whether `python` has a | outside of groups and classes: look-around at its ends would be of one of its sides.
bool has_sides(std::string_view python) {
  int depth = 0;
  bool in_class = false;
  for (std::size_t i = 0; i < python.size(); ++i) {
    const char c = python[i];
    if (c == '\\')
      ++i;
    else if (in_class)
      in_class = c != ']';
    else if (c == '[')
      in_class = true;
    else if (c == '|' && depth == 0)
      return true;
    else
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
  }
  return false;
}

Framed framed(std::string_view python) {
  Framed out{.pattern = python};
  if (has_sides(python)) return out;
  constexpr std::string_view looks_behind = "(?<=", looks_ahead = "(?=";
  if (python.starts_with(looks_behind)) {
    const std::string_view rest = python.substr(looks_behind.size());
    const std::size_t end = rest.find(')');
    // A literal text: its length is known.
    if (end == std::string_view::npos || rest.substr(0, end).find_first_of("\\^$.|?*+([{") != std::string_view::npos)
      return out;
    out = {.before = rest.substr(0, end), .pattern = rest.substr(end + 1), .is_framed = true};
  }
  const std::size_t at = out.pattern.rfind(looks_ahead);
  if (at == std::string_view::npos || !out.pattern.ends_with(')') || (at > 0 && out.pattern[at - 1] == '\\'))
    return out;
  const std::string_view inside =
      out.pattern.substr(at + looks_ahead.size(), out.pattern.size() - at - looks_ahead.size() - 1);
  if (inside.find_first_of("()|") != std::string_view::npos || inside.ends_with('\\')) return out;
  out.behind = inside;
  out.pattern = out.pattern.substr(0, at);
  out.is_framed = true;
  return out;
}

/// Calls `found` with the groups of each match, the match first, until it says false. What a pattern looks at may be of
/// two matches.
template <class Found>
void each_match(const RE2& pattern, bool is_framed, std::size_t before, std::string_view text, const Found& found) {
  const re2::StringPiece all(text.data(), text.size());
  Groups groups(static_cast<std::size_t>(pattern.NumberOfCapturingGroups()) + 1);
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t from = at - std::min(at, before);
    if (!pattern.Match(all, from, text.size(), RE2::UNANCHORED, groups.data(), static_cast<int>(groups.size()))) return;
    const std::span<const re2::StringPiece> own = std::span(groups).subspan(is_framed ? 1 : 0);
    if (!found(own)) return;
    const std::size_t end = static_cast<std::size_t>(own[0].data() - text.data()) + own[0].size();
    at = end;
    if (own[0].empty()) at += end < text.size() ? jinja::point_size(text.substr(end)) : 1;
  }
}

}  // namespace

std::expected<Pattern, std::string> Pattern::compile(std::string_view python) {
  RE2::Options quiet;
  quiet.set_log_errors(false);
  const Framed parts = framed(python);
  const std::string source = parts.is_framed ? fmt::format("(?:{})({})(?:{})", to_re2(parts.before),
                                                           to_re2(parts.pattern), to_re2(parts.behind))
                                             : to_re2(python);
  auto pattern = std::make_shared<const RE2>(source, quiet);
  if (pattern->ok()) return Pattern(std::move(pattern), parts.is_framed, parts.before.size());
  if (python.contains("(?=") || python.contains("(?!") || python.contains("(?<=") || python.contains("(?<!"))
    return std::unexpected("looks ahead or behind otherwise than by (?<=text) at its beginning or (?=…) at its end");
  return std::unexpected(pattern->error());
}

std::vector<std::vector<std::string>> Pattern::find_all(std::string_view text) const {
  std::vector<std::vector<std::string>> out;
  each_match(*pattern_, is_framed_, before_, text, [&](std::span<const re2::StringPiece> groups) {
    auto& match = out.emplace_back();
    for (const re2::StringPiece& each : groups.subspan(groups.size() == 1 ? 0 : 1))
      match.emplace_back(each.empty() ? std::string() : std::string(each.data(), each.size()));
    return true;
  });
  return out;
}

std::string Pattern::replace(std::string_view text, std::string_view replacement, std::size_t count) const {
  std::string out;
  std::size_t behind = 0, done = 0;
  each_match(*pattern_, is_framed_, before_, text, [&](std::span<const re2::StringPiece> groups) {
    const auto begin = static_cast<std::size_t>(groups[0].data() - text.data());
    out += text.substr(behind, begin - behind);
    append_replacement(out, replacement, groups);
    behind = begin + groups[0].size();
    return ++done != count;
  });
  return out += text.substr(behind);
}

std::string escape_pattern(std::string_view text) { return RE2::QuoteMeta(re2::StringPiece(text.data(), text.size())); }

}  // namespace stackgate::evaluator::harness
