// Tables for one rule: patches of a kind's minimal sample, and where the rule must find something.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/table_lookup.hpp"
#include "tests/validators/rules/samples.hpp"

namespace stackgate::validate::tests {

struct RuleCase {
  std::string_view patch;                // onto the minimal sample
  std::vector<std::string_view> places;  // the paths at which the rule must report, in order; none: it must be silent
};

/// Each case is reviewed without a cluster. The rule must report at these places and nowhere else, with its own
/// severity. A case that is good must also be free of errors of any other rule.
void expect_rule(const Rule& rule, crds::Kind kind, std::initializer_list<RuleCase> cases);

/// The review of a creation in namespace "default" with this cluster.
Findings review_in(TableLookup& cluster, crds::Kind kind, std::string_view patch, const Options& options = {});

/// The findings of one rule.
Findings of_rule(const Findings& findings, const Rule& rule);

/// All findings as lines, for messages.
std::string all_lines(const Findings& findings);

}  // namespace stackgate::validate::tests
