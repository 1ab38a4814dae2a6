// Findings as a good compiler shows them, below the resource that they belong to.
#include <iterator>

#include <fmt/format.h>

#include "services/kit/findings/terminal.hpp"
#include "services/kit/findings/terminal_text.hpp"
#include "services/stackgate/validate/report.hpp"

namespace stackgate {

using validate::count_of, validate::visible_text;

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
  const validate::Paint paint(colour);
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
    validate::append_for_terminal(out, entry.finding, entry, paint);
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
