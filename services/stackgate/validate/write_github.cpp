// Workflow commands of GitHub Actions:
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
#include <iterator>

#include <fmt/format.h>

#include "services/kit/findings/terminal_text.hpp"
#include "services/stackgate/validate/report.hpp"

namespace stackgate {

namespace {

std::string escaped(std::string_view text, bool is_property) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '%':
        out += "%25";
        break;
      case '\r':
        out += "%0D";
        break;
      case '\n':
        out += "%0A";
        break;
      case ':':
        out += is_property ? "%3A" : ":";
        break;
      case ',':
        out += is_property ? "%2C" : ",";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

std::string write_github(const Report& report) {
  std::string out;
  for (const Entry& entry : report.entries) {
    const validate::Finding& finding = entry.finding;
    fmt::format_to(std::back_inserter(out), "::{} file={}",
                   finding.severity == validate::Severity::error ? "error" : "warning",
                   escaped(validate::visible_text(entry.file), true));
    if (entry.line > 0) {
      fmt::format_to(std::back_inserter(out), ",line={},col={},endColumn={}", entry.line, entry.column,
                     entry.end_column);
    }
    std::string title(entry.kind);
    if (!entry.name.empty()) title.append(title.empty() ? "" : " ").append(entry.name);
    title.append(title.empty() ? "" : ": ").append(finding.rule);
    std::string message = finding.path.empty() ? "" : validate::visible_text(finding.path) + ": ";
    message += validate::visible_text(validate::message_of(finding));
    if (!finding.fix.empty()) message.append("\n").append(validate::visible_text(finding.fix));
    fmt::format_to(std::back_inserter(out), ",title={}::{}\n", escaped(validate::visible_text(title), true),
                   escaped(message, false));
  }
  out += summary(report) + '\n';
  return out;
}

}  // namespace stackgate
