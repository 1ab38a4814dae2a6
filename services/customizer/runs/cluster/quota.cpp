#include "services/customizer/runs/cluster/quota.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/kit/json/read.hpp"
#include "services/kit/kube/object.hpp"

namespace stackgate::customizer {
namespace quota_detail {

using validate::Severity;
using validate::grammar::parse_quantity;
using validate::grammar::Quantity;
using Sums = std::map<std::string, Quantity, std::less<>>;

void add(Sums& to, std::string name, const Quantity& amount, std::int64_t times = 1) {
  for (std::int64_t i = 0; i < times; ++i) to[name] += amount;
}
void add(Sums& to, std::string name, const json::Value& amount, std::int64_t times = 1) {
  if (const auto read = parse_quantity(json::scalar_text(amount))) add(to, std::move(name), *read, times);
}

/// The pods of a Job's template: quotas know cpu, memory and ephemeral-storage without a prefix, too.
void add_pods(const json::Value& pod, std::int64_t count, std::string_view stage, Sums& sums, QuotaNeeds& out) {
  add(sums, "pods", Quantity::from_integer(count));
  for (const json::Value& container : json::items(&pod, {"containers"})) {
    const json::Value* requests = json::at(&container, {"resources", "requests"});
    const json::Value* limits = json::at(&container, {"resources", "limits"});
    for (const json::Member& each : json::members(requests, {})) {
      add(sums, fmt::format("requests.{}", each.key), each.value, count);
      if (each.key == "cpu" || each.key == "memory" || each.key == "ephemeral-storage")
        add(sums, std::string(each.key), each.value, count);
    }
    for (const json::Member& each : json::members(limits, {}))
      if (each.key == "cpu" || each.key == "memory" || each.key == "ephemeral-storage")
        add(sums, fmt::format("limits.{}", each.key), each.value, count);
    for (const std::string_view each : {"cpu", "memory"}) {
      if (json::at(requests, {each}) == nullptr) out.unstated.emplace(fmt::format("requests.{}", each), stage);
      if (json::at(limits, {each}) == nullptr) out.unstated.emplace(fmt::format("limits.{}", each), stage);
    }
  }
}

void add_claim(const json::Value& spec, Sums& objects) {
  const json::Value size = json::value_at(&spec, {"resources", "requests", "storage"});
  add(objects, "requests.storage", size);
  if (const std::string_view of = json::text(&spec, {"storageClassName"}); !of.empty()) {
    add(objects, fmt::format("{}.storageclass.storage.k8s.io/requests.storage", of), size);
    add(objects, fmt::format("{}.storageclass.storage.k8s.io/persistentvolumeclaims", of), Quantity::from_integer(1));
  }
}

constexpr std::array<std::string_view, 4> old_names = {"configmaps", "persistentvolumeclaims", "secrets", "services"};

void add_object(const PlannedObject& planned, std::string_view stage, Sums& objects, Sums& pods, QuotaNeeds& out) {
  bool valid = false;
  const kube::Object object = kube::Object::parse(planned.body, valid);
  const json::Value& root = object.root();
  add(objects, fmt::format("count/{}", kube::to_string(planned.type)), Quantity::from_integer(1));
  if (planned.type.group.empty() && std::ranges::find(old_names, planned.type.plural) != old_names.end())
    add(objects, std::string(planned.type.plural), Quantity::from_integer(1));
  if (planned.type.plural == "persistentvolumeclaims") add_claim(json::value_at(&root, {"spec"}), objects);
  if (planned.type.plural != "jobs") return;
  if (planned.type.group == "batch")
    return add_pods(json::value_at(&root, {"spec", "template", "spec"}),
                    json::integer(&root, {"spec", "parallelism"}, 1), stage, pods, out);
  for (const json::Value& task : json::items(&root, {"spec", "tasks"}))
    add_pods(json::value_at(&task, {"template", "spec"}), json::integer(&task, {"replicas"}, 1), stage, pods, out);
}

validate::Finding finding(Severity severity, std::string problem, std::string fix) {
  return {.rule = "customization-quota",
          .severity = severity,
          .path = "config",
          .problem = std::move(problem),
          .fix = std::move(fix)};
}

/// What people read: Kubernetes' own words for the amount.
std::string amount_text(std::string_view quota_name, const Quantity& amount) {
  if (quota_name.ends_with("memory") || quota_name.ends_with("storage")) {
    constexpr std::array<std::string_view, 4> units = {"", "Ki", "Mi", "Gi"};
    std::int64_t number = amount.rounded_up();
    std::size_t unit = 0;
    for (; unit + 1 < units.size() && number != 0 && number % 1024 == 0; ++unit) number /= 1024;
    return fmt::format("{}{}", number, units.at(unit));
  }
  if (const auto whole = amount.to_integer()) return std::to_string(*whole);
  Quantity thousand;
  for (int i = 0; i < 1000; ++i) thousand += amount;
  return fmt::format("{}m", thousand.rounded_up());
}

void judge_amount(std::string_view quota, std::string_view name, const Quantity& hard, const Quantity& used,
                  const Quantity& need, validate::Findings& out) {
  if (need > hard) {
    out.push_back(finding(Severity::error,
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

void judge_quota(const json::Value& quota, const QuotaNeeds& needs, validate::Findings& out) {
  if (!json::items(&quota, {"spec", "scopes"}).empty() || json::at(&quota, {"spec", "scopeSelector"}) != nullptr)
    return;
  const std::string_view name = json::text(&quota, {"metadata", "name"});
  for (const json::Member& each : json::members(&quota, {"spec", "hard"})) {
    const auto hard = parse_quantity(json::scalar_text(each.value));
    if (!hard) continue;
    const auto used = parse_quantity(json::scalar_text(json::value_at(&quota, {"status", "used", each.key})));
    if (const auto need = needs.amounts.find(each.key); need != needs.amounts.end())
      judge_amount(name, each.key, *hard, used.value_or(Quantity{}), need->second, out);
    if (const auto stage = needs.unstated.find(each.key); stage != needs.unstated.end())
      out.push_back(finding(
          Severity::warning,
          fmt::format("has pods that state no {} (its {}), and the namespace's ResourceQuota {} refuses such pods",
                      each.key, stage->second, name),
          "nothing where a LimitRange of the namespace states it; else make one"));
  }
}

}  // namespace quota_detail

using namespace quota_detail;

QuotaNeeds needs_of(const TrainingJob& job, const JobSetup& setup, const ContainerDefaults& defaults) {
  QuotaNeeds out;
  Sums objects, most;
  const auto add_stage = [&](std::string_view stage, const std::vector<PlannedObject>& planned) {
    Sums pods;
    for (const PlannedObject& each : planned) add_object(each, stage, objects, pods, out);
    for (const auto& [name, amount] : pods) most[name] = std::max(most[name], amount);
  };
  add_stage("", common_objects(job, setup));
  add_stage("download", download_objects(job, setup, {}, 1));
  add_stage("training", training_objects(job, setup, defaults, {}, 1));
  add_stage("upload", upload_objects(job, setup, {}, "{}", {}, 1));
  out.amounts = std::move(most);
  out.amounts.merge(objects);
  return out;
}

validate::Findings judge_quotas(const json::Value& quotas, const QuotaNeeds& needs) {
  validate::Findings out;
  for (const json::Value& each : json::items(&quotas, {"items"})) judge_quota(each, needs, out);
  return out;
}

validate::Findings judge_capability(const json::Value& queue, std::string_view name, const QuotaNeeds& needs) {
  validate::Findings out;
  for (const json::Member& each : json::members(&queue, {"spec", "capability"})) {
    const auto most = parse_quantity(json::scalar_text(each.value));
    const auto need = needs.amounts.find(fmt::format("requests.{}", each.key));
    if (most && need != needs.amounts.end() && need->second > *most)
      out.push_back(
          finding(Severity::error,
                  fmt::format("needs {} {}, and Volcano's queue {} has room for {}",
                              amount_text(each.key, need->second), each.key, name, amount_text(each.key, *most)),
                  "choose a configuration that needs less, or have the queue's capability raised"));
  }
  return out;
}

}  // namespace stackgate::customizer
