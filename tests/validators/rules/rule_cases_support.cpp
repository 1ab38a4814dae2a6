#include <gtest/gtest.h>

#include "tests/validators/rules/rule_cases.hpp"

namespace stackgate::validate::tests {

Findings of_rule(const Findings& findings, const Rule& rule) {
  Findings out;
  for (const Finding& each : findings)
    if (each.rule == rule.id) out.push_back(each);
  return out;
}

std::string all_lines(const Findings& findings) {
  std::string out;
  for (const Finding& each : findings)
    out += (each.severity == Severity::error ? "\n  error " : "\n  warning ") + each.path + ": " + to_line(each);
  return out.empty() ? " nothing" : out;
}

void expect_rule(const Rule& rule, crds::Kind kind, std::initializer_list<RuleCase> cases) {
  for (const RuleCase& each : cases) {
    SCOPED_TRACE(std::string(rule.id) + " on " + std::string(crds::info(kind).name) + " with\n" +
                 std::string(each.patch));
    const Findings findings = review_of(kind, each.patch);
    std::vector<std::string_view> places;
    const Findings own = of_rule(findings, rule);
    for (const Finding& one : own) {
      places.push_back(one.path);
      EXPECT_EQ(one.severity, rule.severity);
      EXPECT_FALSE(one.problem.empty() || one.fix.empty());
    }
    EXPECT_EQ(places, each.places) << all_lines(findings);
    if (each.places.empty()) {
      EXPECT_FALSE(has_errors(findings)) << all_lines(findings);
    }
  }
}

Findings review_in(TableLookup& cluster, crds::Kind kind, std::string_view patch, const Options& options) {
  const auto object = sample(kind, patch);
  return review({.kind = kind, .object = &object->value(), .old = nullptr, .ns = "default"}, &cluster, options);
}

}  // namespace stackgate::validate::tests
