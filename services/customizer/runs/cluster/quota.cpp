#include "services/customizer/runs/cluster/quota.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/customizer/runs/cluster/amounts.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::customizer {
namespace quota_detail {

using validate::Severity;
using validate::grammar::parse_quantity;
using validate::grammar::Quantity;

void add(QuotaAmounts& to, const std::string& name, const Quantity& amount, std::int64_t times = 1) {
  for (std::int64_t i = 0; i < times; ++i) to[name] += amount;
}
void add(QuotaAmounts& to, const std::string& name, const json::Value& amount, std::int64_t times = 1) {
  if (const auto read = parse_quantity(json::scalar_text(amount))) add(to, name, *read, times);
}

/// Quotas know cpu, memory and ephemeral-storage without a prefix, too.
void add_container(const json::Value& container, std::int64_t count, PodNeeds& out) {
  const json::Value* requests = json::at(&container, {"resources", "requests"});
  const json::Value* limits = json::at(&container, {"resources", "limits"});
  for (const json::Member& each : json::members(requests, {})) {
    add(out.amounts, fmt::format("requests.{}", each.key), each.value, count);
    if (each.key == "cpu" || each.key == "memory" || each.key == "ephemeral-storage")
      add(out.amounts, std::string(each.key), each.value, count);
  }
  for (const json::Member& each : json::members(limits, {}))
    if (each.key == "cpu" || each.key == "memory" || each.key == "ephemeral-storage")
      add(out.amounts, fmt::format("limits.{}", each.key), each.value, count);
  for (const std::string_view each : {"cpu", "memory"}) {
    const bool is_requested = json::at(requests, {each}) != nullptr, is_limited = json::at(limits, {each}) != nullptr;
    if (!is_requested) out.unstated.insert(fmt::format("requests.{}", each));
    if (!is_limited) out.unstated.insert(fmt::format("limits.{}", each));
    out.states_resources = out.states_resources || is_requested || is_limited;
  }
}

/// Of a Job's template.
void add_pods(const json::Value& pod, std::int64_t count, std::string_view stage, QuotaNeeds& out) {
  PodNeeds& needs = out.pods.emplace_back(PodNeeds{.stage = stage});
  add(needs.amounts, "pods", Quantity::from_integer(count));
  needs.has_deadline = pod.find("activeDeadlineSeconds") != nullptr;
  needs.priority_class = json::text(&pod, {"priorityClassName"});
  for (const json::Value& container : json::items(&pod, {"containers"})) add_container(container, count, needs);
}

void add_claim(const json::Value& spec, QuotaAmounts& objects) {
  const json::Value size = json::value_at(&spec, {"resources", "requests", "storage"});
  add(objects, "requests.storage", size);
  if (const std::string_view of = json::text(&spec, {"storageClassName"}); !of.empty()) {
    add(objects, fmt::format("{}.storageclass.storage.k8s.io/requests.storage", of), size);
    add(objects, fmt::format("{}.storageclass.storage.k8s.io/persistentvolumeclaims", of), Quantity::from_integer(1));
  }
}

constexpr std::array<std::string_view, 4> old_names = {"configmaps", "persistentvolumeclaims", "secrets", "services"};

void add_object(const FirstObject& object, QuotaNeeds& out) {
  const PlannedObject& planned = object.planned;
  QuotaAmounts& objects = out.objects;
  add(objects, fmt::format("count/{}", kube::to_string(planned.type)), Quantity::from_integer(1));
  if (planned.type.group.empty() && std::ranges::find(old_names, planned.type.plural) != old_names.end())
    add(objects, std::string(planned.type.plural), Quantity::from_integer(1));
  if (planned.type.plural == "persistentvolumeclaims")
    add_claim(json::value_at(&object.body.root(), {"spec"}), objects);
  for (const PodTemplate& each : pod_templates(object)) add_pods(each.spec, each.count, object.stage, out);
}

validate::Finding finding(Severity severity, std::string problem, std::string fix) {
  return {.rule = "customization-quota",
          .severity = severity,
          .path = "config",
          .problem = std::move(problem),
          .fix = std::move(fix)};
}

struct QuotaLine {
  std::string_view quota, name;
  Quantity hard, used;
};
/// `never`: the severity of more than it ever allows.
void judge_amount(const QuotaLine& line, const Quantity& need, Severity never, validate::Findings& out) {
  const auto& [quota, name, hard, used] = line;
  if (need > hard) {
    out.push_back(finding(never,
                          fmt::format("needs {} {}, and the namespace's ResourceQuota {} allows {}",
                                      amount_text(name, need), name, quota, amount_text(name, hard)),
                          "choose a configuration that needs less, or have the quota raised"));
    return;
  }
  Quantity sum = used;
  sum += need;
  if (sum > hard)
    out.push_back(
        finding(Severity::warning,
                fmt::format("needs {} {}; of the {} that the namespace's ResourceQuota {} allows, {} are in use",
                            amount_text(name, need), name, amount_text(name, hard), quota, amount_text(name, used)),
                "nothing: the job waits until enough is free"));
}

/// Whether a quota's scopes choose a pod. `perhaps`: what the cluster puts into it decides.
enum class Chosen : std::uint8_t { no, perhaps, yes };

Chosen chosen_by(std::string_view scope, const PodNeeds& pod) {
  if (scope == "Terminating") return pod.has_deadline ? Chosen::yes : Chosen::no;
  if (scope == "NotTerminating") return pod.has_deadline ? Chosen::no : Chosen::yes;
  if (scope == "NotBestEffort") return pod.states_resources ? Chosen::yes : Chosen::perhaps;
  if (scope == "BestEffort") return pod.states_resources ? Chosen::no : Chosen::perhaps;
  if (scope == "PriorityClass") return pod.priority_class.empty() ? Chosen::no : Chosen::yes;
  return Chosen::no;  // of claims, and of affinities that no pod of ours has
}

Chosen chosen_by(const json::Value& requirement, const PodNeeds& pod) {
  const std::string_view scope = json::text(&requirement, {"scopeName"}), how = json::text(&requirement, {"operator"});
  if (scope != "PriorityClass" || how == "Exists") return chosen_by(scope, pod);
  const bool is_named = std::ranges::any_of(json::items(&requirement, {"values"}), [&](const json::Value& each) {
    return each.is_string() && each.string() == pod.priority_class;
  });
  if (how == "In") return is_named ? Chosen::yes : Chosen::no;
  // Without a class of its own a pod gets the cluster's default, where there is one.
  if (pod.priority_class.empty()) return Chosen::perhaps;
  return how == "NotIn" && !is_named ? Chosen::yes : Chosen::no;
}

Chosen chosen_by_all(const json::Value& quota, const PodNeeds& pod) {
  Chosen out = Chosen::yes;
  for (const json::Value& each : json::items(&quota, {"spec", "scopes"}))
    out = std::min(out, chosen_by(each.is_string() ? each.string() : std::string_view(), pod));
  for (const json::Value& each : json::items(&quota, {"spec", "scopeSelector", "matchExpressions"}))
    out = std::min(out, chosen_by(each, pod));
  return out;
}

/// What the quota counts of them for certain, and at the most.
struct Counted {
  QuotaAmounts certain{}, most{};
  std::map<std::string, std::string_view, std::less<>> unstated{};  // → the stage
};
Counted counted_by(const json::Value& quota, const QuotaNeeds& needs) {
  std::vector<PodNeeds> certain, all;
  Counted out;
  for (const PodNeeds& each : needs.pods) {
    const Chosen chosen = chosen_by_all(quota, each);
    if (chosen == Chosen::no) continue;
    for (const std::string& name : each.unstated) out.unstated.emplace(name, each.stage);
    all.push_back(each);
    if (chosen == Chosen::yes) certain.push_back(each);
  }
  out.certain = most_of_pods(certain);
  out.most = most_of_pods(all);
  const bool has_scopes = !json::items(&quota, {"spec", "scopes"}).empty() ||
                          !json::items(&quota, {"spec", "scopeSelector", "matchExpressions"}).empty();
  if (has_scopes) return out;
  out.certain.insert(needs.objects.begin(), needs.objects.end());
  out.most.insert(needs.objects.begin(), needs.objects.end());
  return out;
}

void judge_quota(const json::Value& quota, const QuotaNeeds& needs, validate::Findings& out) {
  const Counted counted = counted_by(quota, needs);
  const std::string_view name = json::text(&quota, {"metadata", "name"});
  for (const json::Member& each : json::members(&quota, {"spec", "hard"})) {
    const auto hard = parse_quantity(json::scalar_text(each.value));
    if (!hard) continue;
    const auto used = parse_quantity(json::scalar_text(json::value_at(&quota, {"status", "used", each.key})));
    if (const auto most = counted.most.find(each.key); most != counted.most.end()) {
      const auto certain = counted.certain.find(each.key);
      const bool never = certain != counted.certain.end() && certain->second > *hard;
      judge_amount({name, each.key, *hard, used.value_or(Quantity{})}, never ? certain->second : most->second,
                   never ? Severity::error : Severity::warning, out);
    }
    if (const auto stage = counted.unstated.find(each.key); stage != counted.unstated.end())
      out.push_back(finding(
          Severity::warning,
          fmt::format("has pods that state no {} (its {}), and the namespace's ResourceQuota {} refuses such pods",
                      each.key, stage->second, name),
          "nothing where a LimitRange of the namespace states it; else make one"));
  }
}

/// All pods of a Job get one flavor. Nothing: no resource group covers it.
std::optional<Quantity> most_of_flavors(const json::Value& cluster_queue, std::string_view resource) {
  std::optional<Quantity> out;
  for (const json::Value& group : json::items(&cluster_queue, {"spec", "resourceGroups"}))
    for (const json::Value& flavor : json::items(&group, {"flavors"}))
      for (const json::Value& each : json::items(&flavor, {"resources"}))
        if (json::text(&each, {"name"}) == resource)
          if (const auto quota = parse_quantity(json::scalar_text(json::value_at(&each, {"nominalQuota"}))))
            out = std::max(out.value_or(Quantity{}), *quota);
  return out;
}

}  // namespace quota_detail

using namespace quota_detail;

QuotaAmounts most_of_pods(std::span<const PodNeeds> pods) {
  std::map<std::string_view, QuotaAmounts> by_stage;
  for (const PodNeeds& each : pods)
    for (const auto& [name, amount] : each.amounts) add(by_stage[each.stage], name, amount);
  QuotaAmounts out;
  for (const auto& [stage, amounts] : by_stage)
    for (const auto& [name, amount] : amounts) out[name] = std::max(out[name], amount);
  return out;
}

QuotaNeeds needs_of(std::span<const FirstObject> objects) {
  QuotaNeeds out;
  for (const FirstObject& each : objects) add_object(each, out);
  return out;
}

validate::Findings judge_quotas(const json::Value& quotas, const QuotaNeeds& needs) {
  validate::Findings out;
  for (const json::Value& each : json::items(&quotas, {"items"})) judge_quota(each, needs, out);
  return out;
}

validate::Findings judge_capability(const json::Value& queue, std::string_view name, const QuotaNeeds& needs) {
  validate::Findings out;
  const QuotaAmounts amounts = most_of_pods(needs.pods);
  for (const json::Member& each : json::members(&queue, {"spec", "capability"})) {
    const auto most = parse_quantity(json::scalar_text(each.value));
    const auto need = amounts.find(fmt::format("requests.{}", each.key));
    if (most && need != amounts.end() && need->second > *most)
      out.push_back(
          finding(Severity::error,
                  fmt::format("needs {} {}, and Volcano's queue {} has room for {}",
                              amount_text(each.key, need->second), each.key, name, amount_text(each.key, *most)),
                  "choose a configuration that needs less, or have the queue's capability raised"));
  }
  return out;
}

validate::Findings judge_cluster_quota(const json::Value& queue, std::string_view name, const QuotaNeeds& needs) {
  const auto training = std::ranges::find(needs.pods, "training", &PodNeeds::stage);
  validate::Findings out;
  if (training == needs.pods.end()) return out;
  const bool borrows =
      !json::text(&queue, {"spec", "cohort"}).empty() || !json::text(&queue, {"spec", "cohortName"}).empty();
  constexpr std::string_view head = "requests.";
  for (const auto& [full_name, need] : training->amounts) {
    if (!full_name.starts_with(head)) continue;
    const std::string_view resource = std::string_view(full_name).substr(head.size());
    const auto most = most_of_flavors(queue, resource);
    if (!most)
      out.push_back(finding(Severity::warning,
                            fmt::format("needs {}, which Kueue's ClusterQueue {} does not cover", resource, name),
                            "nothing where Kueue is set to exclude it; else have the ClusterQueue cover it"));
    else if (!borrows && need > *most)
      out.push_back(finding(Severity::error,
                            fmt::format("needs {} {}, and no flavor of Kueue's ClusterQueue {} has more than {}",
                                        amount_text(resource, need), resource, name, amount_text(resource, *most)),
                            "choose a configuration that needs less, or have the queue's nominalQuota raised"));
  }
  return out;
}

}  // namespace stackgate::customizer
