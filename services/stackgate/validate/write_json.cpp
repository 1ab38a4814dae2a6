#include "services/kit/json/write.hpp"
#include "services/stackgate/validate/report.hpp"

namespace stackgate {

std::string write_json(const Report& report) {
  std::string out;
  json::Writer w(out);
  w.array([&] {
    for (const Entry& entry : report.entries) {
      w.object([&] {
        w.member("rule", entry.finding.rule);
        w.member("severity", entry.finding.severity == validate::Severity::error ? "error" : "warning");
        w.member("path", entry.finding.path);
        w.member("message", validate::message_of(entry.finding));
        w.member("fix", entry.finding.fix);
        w.member("file", entry.file);
        w.member("line", entry.line);
        w.member("column", entry.column);
        w.member("kind", entry.kind);
        w.member("namespace", entry.ns);
        w.member("name", entry.name);
      });
      out += '\n';
    }
  });
  out += '\n';
  return out;
}

}  // namespace stackgate
