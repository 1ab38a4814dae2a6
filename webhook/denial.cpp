#include "webhook/denial.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "validators/rulebook.hpp"

namespace stackgate::webhook {
namespace {

constexpr std::size_t warning_bytes = 256;
constexpr std::size_t warnings_bytes = 4096;
constexpr std::size_t columns = 80;

/// Cuts to at most `limit` bytes, at a character's end, with an ellipsis.
std::string cut(std::string text, std::size_t limit) {
  if (text.size() <= limit) return text;
  std::size_t end = limit - std::string_view("…").size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  text.resize(end);
  return text + "…";
}

/// Whether a control character may be in it: looks at eight bytes at a time, because nearly no text has one.
bool may_hold_control(std::string_view text) {
  constexpr std::uint64_t ones = 0x0101010101010101U, tops = ones * 0x80;
  constexpr std::size_t width = sizeof(std::uint64_t);
  if (text.size() < width) return true;
  std::uint64_t hits = 0;
  const auto look_at = [&](const char* at) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, width);
    const std::uint64_t deletes = word ^ (ones * 0x7F);
    hits |= ((word - ones * 0x20) & ~word) | ((deletes - ones) & ~deletes);
  };
  for (std::size_t at = 0; at + width <= text.size(); at += width) look_at(text.data() + at);
  look_at(text.data() + text.size() - width);
  return (hits & tops) != 0;
}

std::string one_line(std::string text) {
  if (!may_hold_control(text)) return text;
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  return text;
}

/// Appends `text`, which begins at `column`, broken at spaces so that no line passes 80 columns where a space allows
/// it; further lines are indented. A piece between two breaks is copied whole.
void append_wrapped(std::string& out, std::string_view text, std::size_t column, std::size_t indent) {
  while (column + text.size() > columns) {
    std::size_t end = text.rfind(' ', columns - column);
    if (end == std::string_view::npos) end = text.find(' ');
    if (end == std::string_view::npos) break;
    out.append(text.substr(0, end)).append("\n").append(indent, ' ');
    text.remove_prefix(end + 1);
    column = indent;
  }
  out.append(text);
}

}  // namespace

bool rests_on_lookup(const validate::Findings& findings) {
  return std::ranges::any_of(findings,
                             [](const validate::Finding& finding) { return validate::is_about_others(finding.rule); });
}

std::string_view cause_reason(std::string_view rule) {
  const validate::RulePage* page = validate::rule_page(rule);
  return page == nullptr ? "FieldValueInvalid" : page->rule.cause;
}

std::vector<Cause> causes_of(const validate::Findings& findings) {
  std::vector<Cause> causes;
  causes.reserve(findings.size());
  for (const validate::Finding& finding : findings)
    if (finding.severity == validate::Severity::error)
      causes.push_back({finding.path, cause_reason(finding.rule), one_line(validate::to_line(finding))});
  return causes;
}

std::string denial_message(std::string_view kind, std::string_view name, const std::vector<Cause>& causes) {
  constexpr std::size_t indent = 4;
  std::string out;
  std::size_t bytes = 64 + kind.size() + name.size();
  std::size_t longest = 0;
  for (const Cause& cause : causes) {
    bytes += cause.field.size() + cause.message.size() + 16;
    longest = std::max(longest, cause.field.size() + cause.message.size() + 2);
  }
  out.reserve(bytes + bytes / 8);
  out.append(kind).append(" \"").append(name).append("\" has ").append(std::to_string(causes.size()));
  out += causes.size() == 1 ? " fault:" : " faults:";
  std::size_t number = 0;
  std::string line;
  line.reserve(longest);
  for (const Cause& cause : causes) {
    ++number;
    out.append(number < 10 ? "\n " : "\n").append(std::to_string(number)).append(". ");
    line.assign(cause.field).append(cause.field.empty() ? "" : ": ").append(cause.message);
    append_wrapped(out, line, number < 100 ? indent : indent + 1, indent);
  }
  return out;
}

std::vector<std::string> warnings_of(const validate::Findings& findings) {
  std::vector<std::string> lines;
  std::size_t bytes = 0;
  std::size_t left_out = 0;
  constexpr std::size_t reserve = 64;  // for the last line
  for (const validate::Finding& finding : findings) {
    if (finding.severity != validate::Severity::warning) continue;
    std::string line = finding.path.empty() ? validate::to_line(finding)
                                            : fmt::format("{}: {}", finding.path, validate::to_line(finding));
    line = cut(one_line(std::move(line)), warning_bytes);
    if (left_out > 0 || bytes + line.size() > warnings_bytes - reserve) {
      ++left_out;
      continue;
    }
    bytes += line.size();
    lines.push_back(std::move(line));
  }
  if (left_out > 0) lines.push_back(fmt::format("and {} more: `stackgate validate` shows them all", left_out));
  return lines;
}

}  // namespace stackgate::webhook
