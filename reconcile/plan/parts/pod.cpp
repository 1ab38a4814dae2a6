#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "reconcile/labels.hpp"
#include "reconcile/plan/findings.hpp"
#include "reconcile/plan/parts/canonical.hpp"
#include "reconcile/plan/parts/workload.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::reconcile::parts {
namespace {

/// FNV-1a: it only has to differ when an input does. Empty when there is none.
std::string hash_of(std::span<const InputFacts> inputs) {
  const auto counts = [](const InputFacts& each) { return !each.content_hash.empty() && !each.reloaded; };
  if (std::ranges::none_of(inputs, counts)) return {};
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto mix = [&hash](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    hash = (hash ^ 0xffU) * 0x100000001b3U;  // no byte of UTF-8: keeps neighbours apart
  };
  for (const InputFacts& each : inputs) {
    if (!counts(each)) continue;
    mix(info(each.type).kind);
    mix(each.name);
    mix(each.content_hash);
  }
  return fmt::format("{:016x}", hash);
}

/// Of the pods that run for the resource now, or nullptr.
const json::Value* live_template(const Observed& observed) {
  for (const LiveChild& child : observed.children) {
    if (!child.owned) continue;
    if (child.type == ChildType::deployment) return json::at(child.object, {"spec", "template"});
    if (child.type == ChildType::leader_worker_set)
      return json::at(child.object, {"spec", "leaderWorkerTemplate", "workerTemplate"});
  }
  return nullptr;
}

/// While an input is not there the annotation stays as it is: pods that serve are not exchanged for some that cannot
/// start, and one that is made again as it was restarts nothing.
pods::TextMap pod_annotations(const Scope& scope, const Workload& workload) {
  pods::TextMap out = workload.pod.annotations;
  const Observed& observed = scope.planning.observed;
  std::string inputs = hash_of(observed.inputs);
  if (lacks_inputs(observed))
    if (const json::Value* live = live_template(observed))
      inputs = json::text(live, {"metadata", "annotations", inputs_annotation});
  if (!inputs.empty()) out.insert_or_assign(std::string(inputs_annotation), std::move(inputs));
  return out;
}

/// What the user writes wins; what is not written is as strict as a server can be.
std::string security_context(const Scope& scope, const Workload& workload) {
  const Field user = scope.spec["podSecurityContext"];
  return json::object_text([&](json::Writer& out) {
    if (user["fsGroup"].absent() && workload.fs_group) {
      out.member("fsGroup", *workload.fs_group);
      if (user["fsGroupChangePolicy"].absent()) out.member("fsGroupChangePolicy", "OnRootMismatch");
    }
    members_canonical(out, user, {"fsGroup", "fsGroupChangePolicy", "runAsGroup", "runAsNonRoot"});
    if (workload.run_as_group) out.member("runAsGroup", *workload.run_as_group);
    if (workload.run_as_user) out.member("runAsUser", *workload.run_as_user);
    if (user["runAsNonRoot"].absent() && user["runAsUser"].integer() != 0) out.member("runAsNonRoot", true);
    members_canonical(out, user, {"runAsUser", "seLinuxOptions", "seccompProfile"});
    if (user["seccompProfile"].absent()) {
      out.object("seccompProfile", [&] { out.member("type", "RuntimeDefault"); });
    }
    members_canonical(out, user, {"supplementalGroups", "sysctls"});
  });
}

}  // namespace

pods::Pod pod_of(const Scope& scope, const Workload& workload) {
  const Field& spec = scope.spec;
  pods::Pod out = workload.pod;
  pods::TextMap labels = own_labels(scope);
  labels.merge(out.labels);
  out.labels = std::move(labels);
  out.annotations = pod_annotations(scope, workload);
  out.token = workload.token || !workload.rights.empty() || spec["serviceAccountName"].present();
  out.security_context = security_context(scope, workload);
  out.node_selector = optional_json(spec["nodeSelector"]);
  out.tolerations = optional_json(spec["tolerations"]);
  out.affinity = optional_json(spec["affinity"]);
  out.priority_class = spec["priorityClassName"].text().value_or("");
  out.runtime_class = spec["runtimeClassName"].text().value_or("");
  if (workload.runs_once) out.restart_policy = "Never";
  // An affinity of the user decides alone.
  if (workload.spread && !workload.runs_once && spec["affinity"].absent()) out.spread_over = selector_labels(scope);
  out.containers = {workload.main};
  return out;
}

}  // namespace stackgate::reconcile::parts
