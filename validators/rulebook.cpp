#include "validators/rulebook.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "crds/kinds.hpp"
#include "services/kit/findings/finding.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/schema/check.hpp"
#include "services/kit/schema/findings.hpp"
#include "validators/ratchet.hpp"
#include "validators/rules/kinds.hpp"
#include "validators/schemas.hpp"

namespace stackgate::validate {

namespace {

using schema::Fault;
using schema::is_about_form;
using schema::SchemaFault;

bool same_or_inside(std::string_view path, std::string_view of) {
  return path.starts_with(of) && (path.size() == of.size() || path[of.size()] == '.' || path[of.size()] == '[');
}

/// Nothing inside such a value can be judged.
bool hides_inside(Fault fault) {
  return fault == Fault::type || fault == Fault::combination || fault == Fault::null_value || fault == Fault::unknown ||
         fault == Fault::duplicate;
}

bool holds_grammar(const Finding& finding) {
  const RulePage* page = rule_page(finding.rule);
  return page != nullptr && page->rule.grammar;
}

/// Schema faults of `object`, in document order, mismatches of patterns not yet explained. The status is passed over:
/// users do not write it. `left_out` becomes whether there are more than `max_faults`.
std::vector<SchemaFault> check_structure(crds::Kind kind, const json::Value& object, std::size_t max_faults,
                                         bool& left_out) {
  schema::CheckOptions options;
  options.max_faults = max_faults + 1;  // one more than is reported: whether there are more
  options.explain_mismatches = false;
  std::vector<SchemaFault> faults = schema::check(schema_of(kind).root(), object, nullptr, options);
  const bool cut = faults.size() > max_faults;
  if (cut) faults.pop_back();
  left_out = cut;
  std::erase_if(faults, [](const SchemaFault& fault) { return same_or_inside(fault.path, "status"); });
  return faults;
}

/// Leaves one finding per fault. A grammar's finding replaces the schema's about the form of the same value, since it
/// has better words; otherwise what stands at the place of a schema fault, or inside a value of the wrong type, goes.
void drop_duplicates_of_schema(std::vector<SchemaFault>& structure, Findings& found) {
  if (structure.empty() || found.empty()) return;
  std::erase_if(structure, [&](const SchemaFault& fault) {
    return is_about_form(fault.fault) && std::ranges::any_of(found, [&](const Finding& each) {
             return each.path == fault.path && holds_grammar(each);
           });
  });
  std::erase_if(found, [&](const Finding& each) {
    return std::ranges::any_of(structure, [&](const SchemaFault& fault) {
      return each.path == fault.path || (hides_inside(fault.fault) && same_or_inside(each.path, fault.path));
    });
  });
}

struct KindRules {
  Check common;  // nullptr: the kind's own function calls what it needs
  Check own;
};

/// In the order of crds::Kind.
constexpr std::array<KindRules, crds::kinds.size()> rules_by_kind{{
    {nullptr, check_inference_service},
    {nullptr, check_inference_cache},
    {nullptr, check_inference_pipeline},
    {check_stack_common, check_stack_datastore},
    {check_stack_common, check_stack_entitystore},
    {check_stack_common, check_stack_customizer},
    {check_stack_common, check_stack_evaluator},
    {check_stack_common, check_stack_guardrail},
}};

void run_rules(Context& context) {
  const schema::Node& node = schema_of(context.request.kind).root();
  const Field object = Field::root(context.walk, *context.request.object, &node);
  const KindRules& rules = rules_by_kind[static_cast<std::size_t>(context.request.kind)];
  check_metadata(context, object);
  if (rules.common != nullptr) rules.common(context, object);
  rules.own(context, object);
  if (context.lookup != nullptr) {
    check_references(context, object);
    check_neighbours(context, object);
  }
  if (context.request.old != nullptr)
    check_update(context, object, Field::root(context.walk, *context.request.old, &node));
}

/// Enough for any stored object: an old fault that is not found would count as new.
constexpr std::size_t most_old_faults = 10'000;
constexpr std::size_t most_faults = schema::CheckOptions{}.max_faults;

/// `cut` becomes whether there is more than is reported.
Findings everything_about(const Request& request, Lookup* lookup, const Options& options, std::size_t max_faults,
                          bool& cut) {
  std::vector<schema::SchemaFault> structure = check_structure(request.kind, *request.object, max_faults, cut);
  if (!request.object->is_object()) return schema::to_findings(std::move(structure));
  Context context(request, lookup, options);
  run_rules(context);
  cut = cut || context.cut();
  drop_duplicates_of_schema(structure, context.findings);
  Findings findings = schema::to_findings(std::move(structure), context.findings.size());
  if (context.findings.empty()) return findings;
  findings.insert(findings.end(), std::make_move_iterator(context.findings.begin()),
                  std::make_move_iterator(context.findings.end()));
  std::ranges::stable_sort(findings, {}, &Finding::offset);
  return findings;
}

/// Stands last, by the place of the last finding.
void describe_cut(Findings& findings) {
  if (findings.empty()) return;
  const Finding& last = findings.back();
  findings.push_back({.rule = last.rule,
                      .severity = has_errors(findings) ? Severity::error : Severity::warning,
                      .path = {},
                      .value = {},
                      .problem = "there are more findings than are listed here",
                      .fix = "mend these first, then check again",
                      .offset = last.offset});
}

}  // namespace

Findings review(const Request& request, Lookup* lookup, const Options& options) {
  if (request.object == nullptr || nothing_to_review(request)) return {};
  bool cut = false;
  Findings findings = everything_about(request, lookup, options, most_faults, cut);
  // Where faults were left out a new one may be among them: then none counts as old.
  if (request.old != nullptr && has_errors(findings) && !cut) {
    Request before = request;
    before.object = request.old;
    before.old = nullptr;
    bool old_cut = false;
    ratchet(request, findings, everything_about(before, lookup, options, most_old_faults, old_cut));
  }
  if (cut) describe_cut(findings);
  return findings;
}

const RulePage* rule_page(std::string_view id) {
  const auto& pages = rule_pages();
  const auto page = std::ranges::lower_bound(pages, id, {}, [](const RulePage& each) { return each.rule.id; });
  return page != pages.end() && page->rule.id == id ? &*page : nullptr;
}

bool is_about_others(std::string_view rule) {
  const RulePage* page = rule_page(rule);
  return page != nullptr && (page->group == "reference" || page->group == "across");
}

Findings review_deletion(const Request& request, Lookup* lookup, const Options& options) {
  if (request.object == nullptr || !request.object->is_object() || lookup == nullptr) return {};
  Context context(request, lookup, options);
  check_deletion(context, Field::root(context.walk, *request.object, &schema_of(request.kind).root()));
  if (context.cut()) describe_cut(context.findings);
  return std::move(context.findings);
}

}  // namespace stackgate::validate
