#include "services/customizer/runs/cluster/limit_ranges.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "services/customizer/runs/cluster/amounts.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::customizer {
namespace limit_ranges_detail {

using validate::Severity;
using validate::grammar::parse_quantity;
using validate::grammar::Quantity;
using Amounts = std::map<std::string, Quantity, std::less<>>;  // by the resource

constexpr std::string_view of_training = "choose a configuration whose resources fit, or have the LimitRange changed",
                           of_tools = "have the LimitRange changed: what downloads and uploads need is fixed",
                           of_model = "nothing where the model was downloaded before; else have the LimitRange changed",
                           of_workspace =
                               "have trainingConfig.workspacePVC.size of the StackCustomizer changed, or the "
                               "LimitRange";

/// What is held against the limits of one type.
struct Subject {
  std::string what{};  // "makes a container (trainer, for its training)"
  std::string_view cure{};
  Severity severity = Severity::error;
  Amounts requests{}, limits{};
};

/// One entry of a LimitRange's list.
struct Limit {
  std::string_view range{};  // its LimitRange
  json::Value entry{};
  std::string_view type() const { return json::text(&entry, {"type"}); }
};

std::vector<Limit> limits_in(const json::Value& ranges) {
  std::vector<Limit> out;
  for (const json::Value& range : json::items(&ranges, {"items"}))
    for (const json::Value& entry : json::items(&range, {"spec", "limits"}))
      out.push_back({json::text(&range, {"metadata", "name"}), entry});
  return out;
}

template <class Use>
void for_each_amount(const json::Value& amounts, const Use& use) {
  for (const json::Member& each : amounts.members())
    if (const auto amount = parse_quantity(json::scalar_text(each.value))) use(each.key, *amount);
}
Amounts amounts_of(const json::Value& object) {
  Amounts out;
  for_each_amount(object, [&](std::string_view name, const Quantity& amount) { out.emplace(name, amount); });
  return out;
}
std::optional<Quantity> amount_in(const Amounts& amounts, std::string_view name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? std::nullopt : std::optional(found->second);
}

/// "that requests 100m cpu, and the namespace's LimitRange team wants at least 200m"
void report(const Limit& limit, const Subject& subject, std::string_view has, std::string_view wants,
            validate::Findings& out) {
  out.push_back(
      {.rule = "customization-limits",
       .severity = subject.severity,
       .path = "config",
       .problem = fmt::format("{} {}, and the namespace's LimitRange {} {}", subject.what, has, limit.range, wants),
       .fix = std::string(subject.cure)});
}
std::string requested(std::string_view name, const std::optional<Quantity>& amount) {
  return amount ? fmt::format("that requests {} {}", amount_text(name, *amount), name)
                : fmt::format("that requests no {}", name);
}
std::string limited(std::string_view name, const std::optional<Quantity>& amount) {
  return amount ? fmt::format("with a limit of {} {}", amount_text(name, *amount), name)
                : fmt::format("without a limit of {}", name);
}

void judge_least(const Limit& limit, const Subject& subject, validate::Findings& out) {
  for_each_amount(json::value_at(&limit.entry, {"min"}), [&](std::string_view name, const Quantity& least) {
    const auto request = amount_in(subject.requests, name), most = amount_in(subject.limits, name);
    const std::string wants = fmt::format("wants at least {}", amount_text(name, least));
    if (!request || *request < least)
      report(limit, subject, requested(name, request), wants, out);
    else if (most && *most < least)
      report(limit, subject, limited(name, most), wants, out);
  });
}

void judge_most(const Limit& limit, const Subject& subject, validate::Findings& out) {
  const bool has_limits = limit.type() != "PersistentVolumeClaim";
  for_each_amount(json::value_at(&limit.entry, {"max"}), [&](std::string_view name, const Quantity& most) {
    const auto request = amount_in(subject.requests, name), own = amount_in(subject.limits, name);
    const std::string allows = fmt::format("allows at most {}", amount_text(name, most));
    if (has_limits && (!own || *own > most))
      report(limit, subject, limited(name, own), allows, out);
    else if (has_limits ? request && *request > most : !request || *request > most)
      report(limit, subject, requested(name, request), allows, out);
  });
}

void judge_ratio(const Limit& limit, const Subject& subject, validate::Findings& out) {
  const json::Value ratios = json::value_at(&limit.entry, {"maxLimitRequestRatio"});
  for_each_amount(ratios, [&](std::string_view name, const Quantity& ratio) {
    const auto request = amount_in(subject.requests, name), most = amount_in(subject.limits, name);
    const std::string allows =
        fmt::format("allows limits of {} of at most {} times the request", name, amount_text("", ratio));
    if (!request || request->sign() == 0) return report(limit, subject, requested(name, request), allows, out);
    if (!most || most->sign() == 0) return report(limit, subject, limited(name, most), allows, out);
    const double got = static_cast<double>(thousandths(*most)) / static_cast<double>(thousandths(*request));
    if (got * 1000 > static_cast<double>(thousandths(ratio)))
      report(limit, subject, fmt::format("{} that requests {}", limited(name, most), amount_text(name, *request)),
             allows, out);
  });
}

void judge(std::span<const Limit> limits, std::string_view type, const Subject& subject, validate::Findings& out) {
  for (const Limit& each : limits) {
    if (each.type() != type) continue;
    judge_least(each, subject, out);
    judge_most(each, subject, out);
    judge_ratio(each, subject, out);
  }
}

/// As Kubernetes and the admission plugin fill in what is not stated. A request above a limit that was given to it is
/// no valid pod.
void fill_in(std::span<const Limit> limits, Subject& container, validate::Findings& out) {
  container.requests.insert(container.limits.begin(), container.limits.end());
  for (const Limit& each : limits) {
    if (each.type() != "Container") continue;
    for_each_amount(json::value_at(&each.entry, {"default"}), [&](std::string_view name, const Quantity& given) {
      if (!container.limits.try_emplace(std::string(name), given).second) return;
      if (const auto request = amount_in(container.requests, name); request && *request > given)
        report(each, container, requested(name, request),
               fmt::format("gives it a limit of {}", amount_text(name, given)), out);
    });
    container.requests.merge(amounts_of(json::value_at(&each.entry, {"defaultRequest"})));
  }
}

/// A resource counts where all containers state it.
Amounts sum_of(std::span<const Subject> containers, Amounts Subject::* amounts) {
  Amounts out = containers.front().*amounts;
  for (const Subject& each : containers.subspan(1)) {
    std::erase_if(out, [&](const auto& amount) { return !(each.*amounts).contains(amount.first); });
    for (auto& [name, amount] : out) amount += (each.*amounts).find(name)->second;
  }
  return out;
}

void judge_pod(std::span<const Limit> limits, const json::Value& spec, const FirstObject& object,
               validate::Findings& out) {
  Subject pod{.what = fmt::format("makes a pod (for its {})", object.stage),
              .cure = object.stage == "training" ? of_training : of_tools};
  if (object.planned.shared) pod.cure = of_model, pod.severity = Severity::warning;
  std::vector<Subject> containers;
  for (const json::Value& each : json::items(&spec, {"containers"})) {
    Subject& own = containers.emplace_back(pod);
    own.what = fmt::format("makes a container ({}, for its {})", json::text(&each, {"name"}), object.stage);
    own.requests = amounts_of(json::value_at(&each, {"resources", "requests"}));
    own.limits = amounts_of(json::value_at(&each, {"resources", "limits"}));
    fill_in(limits, own, out);
    judge(limits, "Container", own, out);
  }
  if (containers.empty()) return;
  pod.requests = sum_of(containers, &Subject::requests);
  pod.limits = sum_of(containers, &Subject::limits);
  judge(limits, "Pod", pod, out);
}

}  // namespace limit_ranges_detail

validate::Findings judge_limit_ranges(const json::Value& ranges, std::span<const FirstObject> objects) {
  using namespace limit_ranges_detail;
  const std::vector<Limit> limits = limits_in(ranges);
  validate::Findings out;
  for (const FirstObject& each : objects) {
    for (const PodTemplate& pods : pod_templates(each)) judge_pod(limits, pods.spec, each, out);
    if (each.planned.type.plural != "persistentvolumeclaims") continue;
    const json::Value requests = json::value_at(&each.body.root(), {"spec", "resources", "requests"});
    judge(limits, "PersistentVolumeClaim",
          {.what = "makes a claim (its workspace)", .cure = of_workspace, .requests = amounts_of(requests)}, out);
  }
  return out;
}

}  // namespace stackgate::customizer
