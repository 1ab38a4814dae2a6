#include "services/kit/findings/terminal.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "services/kit/findings/quoting.hpp"
#include "services/kit/findings/terminal_text.hpp"

namespace stackgate::validate {
namespace terminal_detail {

constexpr std::size_t widest_excerpt = 160;  // characters of a source line
constexpr std::size_t before_column = 60;    // kept in front of the fault when a line is cut

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

bool has_more_characters(std::string_view text, std::size_t than) {
  std::size_t count = 0;
  for (const char c : text)
    if (begins_character(c) && ++count > than) return true;
  return false;
}

/// Of a line of megabytes only what stands around the fault is looked at.
void append_excerpt(std::string& out, std::string_view path, const Excerpt& at, const Paint& paint) {
  std::string_view source = at.source;
  std::size_t column = at.column - 1;  // in what is left of the line
  std::size_t byte = std::min(at.byte, source.size());
  const bool is_cut = column > before_column && has_more_characters(source, widest_excerpt);
  if (is_cut) {
    std::size_t start = byte;
    for (column = 0; start > 0 && column < before_column;)
      if (begins_character(source[--start])) ++column;
    source.remove_prefix(start);
    byte -= start;
  }
  const std::string shown = visible_text(source, widest_excerpt);
  if (at.may_hold_secret && source_may_hold_secret(path, shown)) {
    fmt::format_to(std::back_inserter(out), "{}{:>5} |{} (not shown: the line may hold a secret)\n", paint.faint,
                   at.line, paint.plain);
    return;
  }
  const std::string_view cut_front = is_cut ? "…" : "";
  const std::string_view cut_back = has_more_characters(source, widest_excerpt) ? "…" : "";
  fmt::format_to(std::back_inserter(out), "{}{:>5} |{} {}{}{}\n", paint.faint, at.line, paint.plain, cut_front, shown,
                 cut_back);

  const std::size_t room = widest_excerpt - std::min(widest_excerpt, column);
  const std::size_t length = std::clamp<std::size_t>(at.end_column - at.column, 1, std::max<std::size_t>(1, room));
  const std::size_t width = terminal_width(visible_text(source.substr(byte), length));
  fmt::format_to(std::back_inserter(out), "{}      |{} {}{}{}^{:~>{}}{}\n", paint.faint, paint.plain, is_cut ? " " : "",
                 blank_of(visible_text(source.substr(0, byte))), paint.caret, "", std::max<std::size_t>(1, width) - 1,
                 paint.plain);
}

}  // namespace terminal_detail

Paint::Paint(bool colour)
    : error(colour ? "\x1b[1;31m" : ""),
      warning(colour ? "\x1b[1;35m" : ""),
      place(colour ? "\x1b[1m" : ""),
      caret(colour ? "\x1b[1;32m" : ""),
      faint(colour ? "\x1b[2m" : ""),
      plain(colour ? "\x1b[0m" : "") {}

void append_for_terminal(std::string& out, const Finding& finding, const Excerpt& at, const Paint& paint) {
  const bool is_error = finding.severity == Severity::error;
  out += paint.place;
  out += at.file.empty() ? "''" : visible_text(at.file);
  if (at.line > 0) fmt::format_to(std::back_inserter(out), ":{}:{}", at.line, at.column);
  fmt::format_to(std::back_inserter(out), ":{} {}{}:{} ", paint.plain, is_error ? paint.error : paint.warning,
                 is_error ? "error" : "warning", paint.plain);
  if (!finding.path.empty()) fmt::format_to(std::back_inserter(out), "{}: ", visible_text(finding.path));
  fmt::format_to(std::back_inserter(out), "{} {}[{}]{}\n", visible_text(message_of(finding)), paint.faint, finding.rule,
                 paint.plain);
  if (at.line > 0) terminal_detail::append_excerpt(out, finding.path, at, paint);
  if (!finding.fix.empty())
    fmt::format_to(std::back_inserter(out), "{}      ={} {}\n", paint.faint, paint.plain, visible_text(finding.fix));
}

std::string count_of(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string message_of(const Finding& finding) {
  return finding.value.empty() ? finding.problem : fmt::format("{} (value: {})", finding.problem, finding.value);
}

}  // namespace stackgate::validate
