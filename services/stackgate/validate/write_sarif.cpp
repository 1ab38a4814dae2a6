// SARIF 2.1.0: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
#include <algorithm>
#include <string>
#include <vector>

#include "services/kit/base/percent.hpp"
#include "services/kit/base/version.hpp"
#include "services/kit/json/write.hpp"
#include "services/stackgate/validate/document_rules.hpp"
#include "services/stackgate/validate/report.hpp"
#include "validators/rulebook.hpp"

namespace stackgate {

namespace {

using validate::Severity;

std::string_view level(Severity severity) { return severity == Severity::error ? "error" : "warning"; }

/// A path as a URI reference (RFC 3986), relative where the path is.
std::string uri_of(std::string_view file) {
  const std::string path = percent_encode(file.starts_with("./") ? file.substr(2) : file, "/");
  return file.starts_with('/') ? "file://" + path : path;
}

void write_text_member(json::Writer& w, std::string_view name, std::string_view text) {
  w.object(name, [&] { w.member("text", text); });
}

void write_rule(json::Writer& w, std::string_view id) {
  const auto write = [&](Severity severity, std::string_view title, std::string_view why, const std::string& markdown) {
    w.object([&] {
      w.member("id", id);
      write_text_member(w, "shortDescription", title);
      write_text_member(w, "fullDescription", why);
      w.object("help", [&] {
        w.member("text", why);
        w.member("markdown", markdown);
      });
      w.object("defaultConfiguration", [&] { w.member("level", level(severity)); });
    });
  };
  for (const validate::RulePage& page : validate::rule_pages()) {
    if (page.rule.id != id) continue;
    std::string markdown(page.why);
    for (const validate::Example& example : page.examples) {
      if (example.label != "bad" && example.label != "good") continue;
      markdown.append("\n\n").append(example.label).append(":\n\n```yaml\n").append(example.yaml).append("\n```");
    }
    return write(page.rule.severity, page.title, page.why, markdown);
  }
  for (const DocumentRulePage& page : document_rule_pages())
    if (page.rule.id == id) return write(page.rule.severity, page.title, page.why, std::string(page.why));
  write(Severity::error, id, id, std::string(id));
}

void write_location(json::Writer& w, const Entry& entry) {
  w.object([&] {
    w.object("physicalLocation", [&] {
      w.object("artifactLocation", [&] { w.member("uri", uri_of(entry.file == "<stdin>" ? "stdin" : entry.file)); });
      if (entry.line == 0) return;
      w.object("region", [&] {
        w.member("startLine", entry.line);
        w.member("startColumn", entry.column);
        w.member("endColumn", entry.end_column);
      });
    });
    if (entry.kind.empty()) return;
    w.array("logicalLocations", [&] {
      w.object([&] {
        std::string name(entry.kind);
        name.append(" ").append(entry.ns).append(entry.ns.empty() ? "" : "/").append(entry.name);
        if (!entry.finding.path.empty()) name.append(" ").append(entry.finding.path);
        w.member("fullyQualifiedName", name);
      });
    });
  });
}

}  // namespace

std::string write_sarif(const Report& report, bool complete) {
  std::vector<std::string_view> rules;
  rules.reserve(report.entries.size());
  for (const Entry& entry : report.entries) rules.push_back(entry.finding.rule);
  std::ranges::sort(rules);
  rules.erase(std::unique(rules.begin(), rules.end()), rules.end());

  std::string out;
  json::Writer w(out);
  w.object([&] {
    w.member("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    w.member("version", "2.1.0");
    w.array("runs", [&] {
      w.object([&] {
        w.object("tool", [&] {
          w.object("driver", [&] {
            w.member("name", "stackgate");
            w.member("version", version);
            w.array("rules", [&] {
              for (const std::string_view id : rules) write_rule(w, id);
            });
          });
        });
        w.array("invocations", [&] { w.object([&] { w.member("executionSuccessful", complete); }); });
        w.member("columnKind", "unicodeCodePoints");
        w.array("results", [&] {
          for (const Entry& entry : report.entries) {
            w.object([&] {
              w.member("ruleId", entry.finding.rule);
              w.member("ruleIndex",
                       static_cast<std::int64_t>(std::ranges::lower_bound(rules, entry.finding.rule) - rules.begin()));
              w.member("level", level(entry.finding.severity));
              std::string text = entry.finding.path.empty() ? "" : entry.finding.path + ": ";
              text += validate::message_of(entry.finding);
              if (!entry.finding.fix.empty()) text.append("; ").append(entry.finding.fix);
              write_text_member(w, "message", text);
              w.array("locations", [&] { write_location(w, entry); });
            });
          }
        });
      });
    });
  });
  out += '\n';
  return out;
}

}  // namespace stackgate
