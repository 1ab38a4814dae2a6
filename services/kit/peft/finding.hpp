// Findings in one line.
#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "services/kit/findings/finding.hpp"

namespace stackgate::peft {

/// More than these say nothing new.
inline constexpr std::size_t most_findings = 100;

inline void add(validate::Findings& out, std::string_view rule, std::string path, std::string problem, std::string fix,
                validate::Severity severity = validate::Severity::error) {
  if (out.size() >= most_findings) return;
  out.push_back({.rule = rule,
                 .severity = severity,
                 .path = std::move(path),
                 .problem = std::move(problem),
                 .fix = std::move(fix)});
}

inline void warn(validate::Findings& out, std::string_view rule, std::string path, std::string problem,
                 std::string fix) {
  add(out, rule, std::move(path), std::move(problem), std::move(fix), validate::Severity::warning);
}

}  // namespace stackgate::peft
