// Tolerations, node selectors and affinity.
// Source: k8s.io/kubernetes/pkg/apis/core/validation, ValidateTolerations, validateAffinity, ValidateNodeSelector.
#include <fmt/format.h>

#include "services/kit/grammar/integer_text.hpp"
#include "services/kit/grammar/names.hpp"
#include "validators/rules/common.hpp"
#include "validators/rules/common/single_values.hpp"

namespace stackgate::validate {
namespace {

void check_toleration(Context& context, const Field& toleration) {
  const Field key = toleration["key"];
  const Field value = toleration["value"];
  const bool exists = toleration["operator"].text() == "Exists";
  if (!key.text().value_or("").empty())
    check_text(context, rule::toleration_key, key, grammar::check_taint_key);
  else if (!exists)
    context.report(rule::toleration_key, key, "without a key the operator must be Exists",
                   "name the taint's key, or write operator: Exists to accept every taint");
  if (exists && !value.text().value_or("").empty())
    context.report(rule::toleration_value, value, "has no meaning with operator Exists, which accepts any value",
                   "take the value out, or write operator: Equal");
  else
    check_text(context, rule::toleration_value, value, grammar::check_label_value);
  if (const Field seconds = toleration["tolerationSeconds"];
      seconds.present() && toleration["effect"].text() != "NoExecute")
    context.report(rule::toleration_seconds, seconds, "counts only for taints that evict pods",
                   "write effect: NoExecute, or take tolerationSeconds out");
}

/// One requirement of a label selector (`node`: of a node selector, which knows Gt and Lt too).
void check_expression(Context& context, const Field& expression, bool node) {
  const Field key = expression["key"];
  check_text(context, rule::label_grammar, key, grammar::check_label_key);
  const auto op = expression["operator"].text();
  const Field values = expression["values"];
  if (!op) return;
  if (*op == "In" || *op == "NotIn") {
    if (values.size() == 0)
      context.report(rule::selector_values, values, fmt::format("operator {} needs at least one value", *op),
                     "add values: [...]");
  } else if (*op == "Exists" || *op == "DoesNotExist") {
    if (values.size() != 0)
      context.report(rule::selector_values, values, fmt::format("operator {} takes no values", *op),
                     "take values out, or write operator: In");
  } else if (*op == "Gt" || *op == "Lt") {
    const auto number = values.size() == 1 ? values.at(0).text() : std::nullopt;
    if (!number || !grammar::parse_integer(*number))
      context.report(rule::selector_values, values, fmt::format("operator {} compares with one whole number", *op),
                     "write for example values: [\"8\"]");
    return;
  }
  if (node && expression["values"].absent()) return;
  for (const Field value : values.items()) check_text(context, rule::label_grammar, value, grammar::check_label_value);
}

void check_node_term(Context& context, const Field& term) {
  for (const Field expression : term["matchExpressions"].items()) check_expression(context, expression, true);
  for (const Field expression : term["matchFields"].items()) {
    const Field key = expression["key"];
    if (key.text() && *key.text() != "metadata.name")
      context.report(rule::selector_values, key, "is no field of a node that can be matched",
                     "write metadata.name, or move the requirement to matchExpressions");
    const auto op = expression["operator"].text();
    if (op && *op != "In" && *op != "NotIn")
      context.report(rule::selector_values, expression["operator"], "a node's name is matched with In or NotIn",
                     "write operator: In");
    else if (op && expression["values"].size() != 1)
      context.report(rule::selector_values, expression["values"], "a node's name is matched with exactly one value",
                     "write one name, for example values: [node-1]");
    else if (key.text() == "metadata.name")
      check_text(context, rule::object_name, expression["values"].at(0), grammar::check_dns_subdomain);
  }
}

void check_pod_term(Context& context, const Field& term) {
  check_text(context, rule::topology_key, term["topologyKey"], grammar::check_label_key);
  check_label_selector(context, term["labelSelector"]);
  check_label_selector(context, term["namespaceSelector"]);
  for (const Field ns : term["namespaces"].items())
    check_text(context, rule::object_name, ns, grammar::check_dns_label);
}

}  // namespace

void check_label_selector(Context& context, const Field& selector) {
  if (selector.absent()) return;
  check_labels(context, selector["matchLabels"]);
  for (const Field expression : selector["matchExpressions"].items()) check_expression(context, expression, false);
}

void check_tolerations(Context& context, Field tolerations) {
  for (const Field toleration : tolerations.items())
    if (toleration.present()) check_toleration(context, toleration);
}

void check_affinity(Context& context, const Field& affinity) {
  if (affinity.absent()) return;
  constexpr std::string_view required = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr std::string_view preferred = "preferredDuringSchedulingIgnoredDuringExecution";
  const Field node = affinity["nodeAffinity"];
  for (const Field term : node[required]["nodeSelectorTerms"].items()) check_node_term(context, term);
  for (const Field weighted : node[preferred].items()) check_node_term(context, weighted["preference"]);
  for (const char* side : {"podAffinity", "podAntiAffinity"}) {
    const Field pods = affinity[side];
    if (pods.absent()) continue;
    for (const Field term : pods[required].items()) check_pod_term(context, term);
    for (const Field weighted : pods[preferred].items()) check_pod_term(context, weighted["podAffinityTerm"]);
  }
}

}  // namespace stackgate::validate
