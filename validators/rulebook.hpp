// The rule book: everything Stackgate knows about a resource that could not run, as one pure function.
//
// The gate, `stackgate validate`, the reconciler and the tests call this and nothing below it. No I/O, no clock, no
// threads of its own; a Rulebook is immutable and may be used from many threads at once.
#pragma once
#include <string_view>
#include <vector>

#include "services/kit/findings/finding.hpp"
#include "validators/lookup.hpp"
#include "validators/request.hpp"
#include "validators/rule.hpp"

namespace stackgate::validate {

/// Every fault of the resource, in document order. With `old`: update rules hold, and what was already wrong and is
/// untouched is a warning. An object with a deletionTimestamp, or one whose spec and own labels are unchanged, gives
/// nothing. `lookup` may be nullptr: reference rules are then off.
Findings review(const Request& request, Lookup* lookup, const Options& options = {});

/// Whether the stored resource may be deleted: the users of an InferenceCache stand in the findings.
Findings review_deletion(const Request& request, Lookup* lookup, const Options& options = {});

/// A rule's page, from validators/pages/<id>.md.
struct Example {
  std::string_view label;  // "bad", "good", or what else the example needs: "stored" (before an update), "cluster"
  std::string_view yaml;
};
struct RulePage {
  Rule rule;
  std::string_view title;
  std::string_view group;  // schema, common, reference, update, or a kind's name
  std::string_view why;
  std::vector<Example> examples;
};
/// Sorted by id. Immutable.
const std::vector<RulePage>& rule_pages();

/// nullptr for an id that is no rule's.
const RulePage* rule_page(std::string_view id);

/// True for the rules of the groups "reference" and "across": what they find is about other objects in the cluster, and
/// may come true or go without any change of the resource. False for ids that are no rule's.
bool is_about_others(std::string_view rule);

}  // namespace stackgate::validate
