#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "reconcile/labels.hpp"
#include "reconcile/plan/findings.hpp"
#include "reconcile/plan/parts/canonical.hpp"
#include "reconcile/plan/parts/workload.hpp"
#include "reconcile/status/read.hpp"

namespace stackgate::reconcile::parts {
namespace {

constexpr std::string_view tmp_volume = "tmp";

/// FNV-1a: it only has to differ when an input does. Empty when there is none.
std::string hash_of(std::span<const InputFacts> inputs) {
  if (std::ranges::all_of(inputs, &std::string::empty, &InputFacts::content_hash)) return {};
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto mix = [&hash](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    hash = (hash ^ 0xffU) * 0x100000001b3U;  // no byte of UTF-8: keeps neighbours apart
  };
  for (const InputFacts& each : inputs) {
    if (each.content_hash.empty()) continue;
    mix(info(each.type).kind);
    mix(each.name);
    mix(each.content_hash);
  }
  return fmt::format("{:016x}", hash);
}

TextMap pod_labels(const Scope& scope, const Workload& workload) {
  TextMap out = own_labels(scope);
  out.insert(workload.labels.begin(), workload.labels.end());
  return out;
}

/// Of the pods that run for the resource now, or nullptr.
const json::Value* live_template(const Observed& observed) {
  for (const LiveChild& child : observed.children) {
    if (!child.owned) continue;
    if (child.type == ChildType::deployment) return read::at(child.object, {"spec", "template"});
    if (child.type == ChildType::leader_worker_set)
      return read::at(child.object, {"spec", "leaderWorkerTemplate", "workerTemplate"});
  }
  return nullptr;
}

/// While an input is not there the annotation stays as it is: pods that serve are not exchanged for some that cannot
/// start, and one that is made again as it was restarts nothing.
TextMap pod_annotations(const Scope& scope, const Workload& workload) {
  TextMap out = workload.annotations;
  const Observed& observed = scope.planning.observed;
  std::string inputs = hash_of(observed.inputs);
  if (lacks_inputs(observed))
    if (const json::Value* live = live_template(observed))
      inputs = read::text(live, {"metadata", "annotations", inputs_annotation});
  if (!inputs.empty()) out.insert_or_assign(std::string(inputs_annotation), std::move(inputs));
  return out;
}

/// What the user writes wins; what is not written is as strict as a server can be.
void write_security_context(json::Writer& out, const Workload& workload) {
  const Field user = workload.knobs["podSecurityContext"];
  out.key("securityContext");
  out.object([&] {
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
      out.key("seccompProfile");
      out.object([&] { out.member("type", "RuntimeDefault"); });
    }
    members_canonical(out, user, {"supplementalGroups", "sysctls"});
  });
}

/// Pods of one workload on different nodes and zones where there is room; an affinity of the user decides alone.
void write_spread(const Scope& scope, json::Writer& out) {
  out.key("topologySpreadConstraints");
  out.array([&] {
    for (const std::string_view key : {"kubernetes.io/hostname", "topology.kubernetes.io/zone"}) {
      out.object([&] {
        out.member("maxSkew", 1);
        out.member("topologyKey", key);
        out.member("whenUnsatisfiable", "ScheduleAnyway");
        out.key("labelSelector");
        out.object([&] { member_map(out, "matchLabels", selector_labels(scope)); });
      });
    }
  });
}

void write_containers(json::Writer& out, std::string_view key, const std::vector<Container>& containers, bool tmp) {
  if (containers.empty()) return;
  out.key(key);
  out.array([&] {
    for (Container container : containers) {
      const bool has_tmp = std::ranges::find(container.mounts, "/tmp", &Mount::path) != container.mounts.end();
      if (tmp && !has_tmp) container.mounts.push_back({std::string(tmp_volume), "/tmp"});
      write_container(out, container);
    }
  });
}

void write_volumes(json::Writer& out, const Workload& workload) {
  if (workload.volumes.empty() && !workload.tmp) return;
  out.key("volumes");
  out.array([&] {
    for (const Volume& volume : workload.volumes) out.raw(volume.body);
    if (workload.tmp) out.raw(empty_volume(tmp_volume).body);
  });
}

void write_pull_secrets(json::Writer& out, const std::vector<std::string>& names) {
  if (names.empty()) return;
  out.key("imagePullSecrets");
  out.array([&] {
    for (const std::string& name : names) out.object([&] { out.member("name", std::string_view(name)); });
  });
}

void write_pod_spec(const Scope& scope, json::Writer& out, const Workload& workload) {
  const Field& knobs = workload.knobs;
  out.member("serviceAccountName", std::string_view(workload.service_account));
  if (!workload.token && workload.rights.empty() && knobs["serviceAccountName"].absent())
    out.member("automountServiceAccountToken", false);
  // Variables for each Service of the namespace would let a Service called "stackgate" set STACKGATE_… ones.
  out.member("enableServiceLinks", false);
  write_pull_secrets(out, workload.pull_secrets);
  write_security_context(out, workload);
  members_canonical(out, knobs, {"nodeSelector", "tolerations", "affinity", "priorityClassName", "runtimeClassName"});
  member_text(out, "schedulerName", workload.scheduler);
  if (workload.runs_once) out.member("restartPolicy", "Never");
  if (workload.spread && !workload.runs_once && knobs["affinity"].absent()) write_spread(scope, out);
  out.member("terminationGracePeriodSeconds", workload.grace_seconds);
  write_containers(out, "initContainers", workload.init, workload.tmp);
  write_containers(out, "containers", {workload.main}, workload.tmp);
  write_volumes(out, workload);
}

}  // namespace

void write_pod_template(const Scope& scope, json::Writer& out, const Workload& workload) {
  out.object([&] {
    out.key("metadata");
    out.object([&] {
      member_map(out, "labels", pod_labels(scope, workload));
      member_map(out, "annotations", pod_annotations(scope, workload));
    });
    out.key("spec");
    out.object([&] { write_pod_spec(scope, out, workload); });
  });
}

}  // namespace stackgate::reconcile::parts
