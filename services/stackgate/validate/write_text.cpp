// Findings as a good compiler shows them.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "services/kit/findings/quoting.hpp"
#include "services/stackgate/validate/report.hpp"
#include "services/stackgate/validate/terminal_text.hpp"

namespace stackgate {

namespace {

constexpr std::size_t widest_excerpt = 160;  // characters of a source line
constexpr std::size_t before_column = 60;    // kept in front of the fault when a line is cut

struct Paint {
  explicit Paint(bool colour)
      : error(colour ? "\x1b[1;31m" : ""),
        warning(colour ? "\x1b[1;35m" : ""),
        place(colour ? "\x1b[1m" : ""),
        caret(colour ? "\x1b[1;32m" : ""),
        faint(colour ? "\x1b[2m" : ""),
        plain(colour ? "\x1b[0m" : "") {}
  std::string_view error, warning, place, caret, faint, plain;
};

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

bool has_more_characters(std::string_view text, std::size_t than) {
  std::size_t count = 0;
  for (const char c : text)
    if (begins_character(c) && ++count > than) return true;
  return false;
}

/// Of a line of megabytes only what stands around the fault is looked at.
void append_excerpt(std::string& out, const Entry& entry, const Paint& paint) {
  std::string_view source = entry.source;
  std::size_t column = entry.column - 1;  // in what is left of the line
  std::size_t byte = std::min(entry.byte, source.size());
  const bool is_cut = column > before_column && has_more_characters(source, widest_excerpt);
  if (is_cut) {
    std::size_t start = byte;
    for (column = 0; start > 0 && column < before_column;)
      if (begins_character(source[--start])) ++column;
    source.remove_prefix(start);
    byte -= start;
  }
  const std::string shown = visible_text(source, widest_excerpt);
  if (validate::source_may_hold_secret(entry.finding.path, shown)) {
    fmt::format_to(std::back_inserter(out), "{}{:>5} |{} (not shown: the line may hold a secret)\n", paint.faint,
                   entry.line, paint.plain);
    return;
  }
  const std::string_view cut_front = is_cut ? "…" : "";
  const std::string_view cut_back = has_more_characters(source, widest_excerpt) ? "…" : "";
  fmt::format_to(std::back_inserter(out), "{}{:>5} |{} {}{}{}\n", paint.faint, entry.line, paint.plain, cut_front,
                 shown, cut_back);

  const std::size_t room = widest_excerpt - std::min(widest_excerpt, column);
  const std::size_t length =
      std::clamp<std::size_t>(entry.end_column - entry.column, 1, std::max<std::size_t>(1, room));
  const std::size_t width = terminal_width(visible_text(source.substr(byte), length));
  fmt::format_to(std::back_inserter(out), "{}      |{} {}{}{}^{:~>{}}{}\n", paint.faint, paint.plain, is_cut ? " " : "",
                 blank_of(visible_text(source.substr(0, byte))), paint.caret, "", std::max<std::size_t>(1, width) - 1,
                 paint.plain);
}

void append_entry(std::string& out, const Entry& entry, const Paint& paint) {
  const bool is_error = entry.finding.severity == validate::Severity::error;
  out += paint.place;
  out += entry.file.empty() ? "''" : visible_text(entry.file);
  if (entry.line > 0) fmt::format_to(std::back_inserter(out), ":{}:{}", entry.line, entry.column);
  fmt::format_to(std::back_inserter(out), ":{} {}{}:{} ", paint.plain, is_error ? paint.error : paint.warning,
                 is_error ? "error" : "warning", paint.plain);
  if (!entry.finding.path.empty()) fmt::format_to(std::back_inserter(out), "{}: ", visible_text(entry.finding.path));
  fmt::format_to(std::back_inserter(out), "{} {}[{}]{}\n", visible_text(message_of(entry.finding)), paint.faint,
                 entry.finding.rule, paint.plain);
  if (entry.line > 0) append_excerpt(out, entry, paint);
  if (!entry.finding.fix.empty())
    fmt::format_to(std::back_inserter(out), "{}      ={} {}\n", paint.faint, paint.plain,
                   visible_text(entry.finding.fix));
}

std::string count_of(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

std::string message_of(const validate::Finding& finding) {
  return finding.value.empty() ? finding.problem : fmt::format("{} (value: {})", finding.problem, finding.value);
}

std::string summary(const Report& report) {
  std::string out = fmt::format("{} checked", count_of(report.documents, "document"));
  if (report.updates + report.deletions > 0) {
    const std::string updates = report.updates > 0 ? count_of(report.updates, "update") : "";
    const std::string deletions = report.deletions > 0 ? count_of(report.deletions, "deletion") : "";
    fmt::format_to(std::back_inserter(out), " ({}{}{})", updates, updates.empty() || deletions.empty() ? "" : ", ",
                   deletions);
  }
  if (report.passed_over > 0) fmt::format_to(std::back_inserter(out), ", {} passed over", report.passed_over);
  if (report.errors + report.warnings == 0) return out + ": no findings";
  return out + fmt::format(": {}, {}", count_of(report.errors, "error"), count_of(report.warnings, "warning"));
}

std::string write_text(const Report& report, bool colour) {
  const Paint paint(colour);
  std::string out;
  const Entry* before = nullptr;
  for (const Entry& entry : report.entries) {
    const bool same_resource = before != nullptr && before->file == entry.file && before->kind == entry.kind &&
                               before->ns == entry.ns && before->name == entry.name;
    if (!same_resource && !entry.kind.empty()) {
      fmt::format_to(std::back_inserter(out), "{}{}:{} In {} \"{}{}{}\":\n", paint.place, visible_text(entry.file),
                     paint.plain, visible_text(entry.kind), visible_text(entry.ns), entry.ns.empty() ? "" : "/",
                     visible_text(entry.name));
    } else if (!same_resource && before != nullptr) {
      out += '\n';  // it does not belong to the resource above
    }
    append_entry(out, entry, paint);
    before = &entry;
  }
  if (!report.entries.empty()) out += '\n';
  out += summary(report);
  out += '\n';
  if (report.references_unknown)
    out +=
        "Secrets, volumes and the like that are not among these documents were not checked: --cluster looks for them\n";
  return out;
}

}  // namespace stackgate
