#include "validators/rulebook.hpp"

#include <algorithm>
#include <array>

#include "validators/ratchet.hpp"
#include "validators/rules/kinds.hpp"
#include "validators/schemas.hpp"
#include "validators/structure.hpp"

namespace stackgate::validate {
namespace {

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

/// `cut` becomes whether there is more than is told.
Findings everything_about(const Request& request, Lookup* lookup, const Options& options, std::size_t max_faults,
                          bool& cut) {
  std::vector<schema::SchemaFault> structure = check_structure(request.kind, *request.object, max_faults, &cut);
  if (!request.object->is_object()) return to_findings(std::move(structure));
  Context context(request, lookup, options);
  run_rules(context);
  cut = cut || context.cut();
  drop_echoes(structure, context.findings);
  Findings findings = to_findings(std::move(structure), context.findings.size());
  if (context.findings.empty()) return findings;
  findings.insert(findings.end(), std::make_move_iterator(context.findings.begin()),
                  std::make_move_iterator(context.findings.end()));
  std::ranges::stable_sort(findings, {}, &Finding::offset);
  return findings;
}

/// Stands last, by the place of the last finding.
void say_cut(Findings& findings) {
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
  if (cut) say_cut(findings);
  return findings;
}

bool is_about_others(std::string_view rule) {
  const auto& pages = rule_pages();
  const auto page = std::ranges::lower_bound(pages, rule, {}, [](const RulePage& each) { return each.rule.id; });
  return page != pages.end() && page->rule.id == rule && (page->group == "reference" || page->group == "across");
}

Findings review_deletion(const Request& request, Lookup* lookup, const Options& options) {
  if (request.object == nullptr || !request.object->is_object() || lookup == nullptr) return {};
  Context context(request, lookup, options);
  check_deletion(context, Field::root(context.walk, *request.object, &schema_of(request.kind).root()));
  if (context.cut()) say_cut(context.findings);
  return std::move(context.findings);
}

}  // namespace stackgate::validate
