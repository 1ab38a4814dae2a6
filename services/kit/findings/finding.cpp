#include "services/kit/findings/finding.hpp"

#include <algorithm>

namespace stackgate::validate {

std::string to_line(const Finding& finding) {
  std::string line;
  line.reserve(finding.problem.size() + finding.value.size() + finding.fix.size() + finding.rule.size() + 24);
  line += finding.problem;
  if (!finding.value.empty()) line.append(" (value: ").append(finding.value).append(")");
  if (!finding.fix.empty()) line.append("; ").append(finding.fix);
  line.append(" [").append(finding.rule).append("]");
  return line;
}

bool has_errors(const Findings& findings) {
  return std::ranges::any_of(findings, [](const Finding& each) { return each.severity == Severity::error; });
}

}  // namespace stackgate::validate
