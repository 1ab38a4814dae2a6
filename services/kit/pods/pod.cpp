#include "services/kit/pods/pod.hpp"

#include <algorithm>
#include <unordered_set>

namespace stackgate::pods {
namespace {

constexpr std::string_view tmp_volume = "tmp", tmp_path = "/tmp";

/// The list `key` of objects, when there are any; `members(item)` writes what is in one.
template <class T>
void write_objects(json::Writer& out, std::string_view key, const std::vector<T>& items, auto&& members) {
  if (items.empty()) return;
  out.array(key, [&] {
    for (const T& item : items) out.object([&] { members(item); });
  });
}

void write_ports(json::Writer& out, const std::vector<Port>& ports) {
  write_objects(out, "ports", ports, [&](const Port& port) {
    out.member("name", std::string_view(port.name));
    out.member("containerPort", port.number);
    out.member("protocol", "TCP");
  });
}

// Kubernetes lets the last entry of a name win, and server-side apply refuses two: only the last one is written.
void write_env(json::Writer& out, const std::vector<EnvVar>& env) {
  if (env.empty()) return;
  std::unordered_set<std::string_view> seen;
  std::vector<const EnvVar*> kept;
  for (auto each = env.rbegin(); each != env.rend(); ++each)
    if (seen.insert(each->name).second) kept.push_back(&*each);
  out.array("env", [&] {
    for (auto each = kept.rbegin(); each != kept.rend(); ++each) out.raw((*each)->body);
  });
}

void write_mounts(json::Writer& out, const std::vector<Mount>& mounts) {
  write_objects(out, "volumeMounts", mounts, [&](const Mount& mount) {
    out.member("name", std::string_view(mount.volume));
    out.member("mountPath", std::string_view(mount.path));
    member_text(out, "subPath", mount.sub_path);
    if (mount.read_only) out.member("readOnly", true);
  });
}

void write_probe(json::Writer& out, std::string_view key, const std::optional<Probe>& probe) {
  if (!probe) return;
  out.object(key, [&] {
    out.object("httpGet", [&] {
      out.member("path", std::string_view(probe->path));
      out.member("port", "api");
      out.member("scheme", "HTTP");
    });
    if (probe->initial_delay != 0) out.member("initialDelaySeconds", probe->initial_delay);
    out.member("periodSeconds", probe->period);
    out.member("timeoutSeconds", probe->timeout);
    out.member("failureThreshold", probe->failures);
    out.member("successThreshold", probe->successes);
  });
}

void write_container(json::Writer& out, const Container& container) {
  out.member("name", std::string_view(container.name));
  out.member("image", std::string_view(container.image));
  member_text(out, "imagePullPolicy", container.pull_policy);
  member_list(out, "command", container.command);
  member_list(out, "args", container.args);
  write_ports(out, container.ports);
  write_env(out, container.env);
  member_json(out, "resources", container.resources);
  write_mounts(out, container.mounts);
  write_probe(out, "startupProbe", container.startup);
  write_probe(out, "readinessProbe", container.readiness);
  write_probe(out, "livenessProbe", container.liveness);
  // A status shows why a container ended: from its log, where it writes no message of its own.
  out.member("terminationMessagePolicy", "FallbackToLogsOnError");
  out.object("securityContext", [&] {
    out.member("allowPrivilegeEscalation", false);
    out.object("capabilities", [&] { out.array("drop", [&] { out.value("ALL"); }); });
    if (container.read_only_root) out.member("readOnlyRootFilesystem", true);
  });
}

void write_containers(json::Writer& out, std::string_view key, std::vector<Container> containers, bool tmp) {
  if (tmp)
    for (Container& each : containers)
      if (std::ranges::find(each.mounts, tmp_path, &Mount::path) == each.mounts.end())
        each.mounts.push_back({std::string(tmp_volume), std::string(tmp_path)});
  write_objects(out, key, containers, [&](const Container& each) { write_container(out, each); });
}

void write_spread(json::Writer& out, const TextMap& labels) {
  if (labels.empty()) return;
  out.array("topologySpreadConstraints", [&] {
    for (const std::string_view key : {"kubernetes.io/hostname", "topology.kubernetes.io/zone"}) {
      out.object([&] {
        out.member("maxSkew", 1);
        out.member("topologyKey", key);
        out.member("whenUnsatisfiable", "ScheduleAnyway");
        out.object("labelSelector", [&] { member_map(out, "matchLabels", labels); });
      });
    }
  });
}

void write_volumes(json::Writer& out, const Pod& pod) {
  if (pod.volumes.empty() && !pod.tmp) return;
  out.array("volumes", [&] {
    for (const Volume& volume : pod.volumes) out.raw(volume.body);
    if (pod.tmp) out.raw(empty_volume(tmp_volume).body);
  });
}

void write_spec(json::Writer& out, const Pod& pod) {
  member_text(out, "serviceAccountName", pod.service_account);
  if (!pod.token) out.member("automountServiceAccountToken", false);
  // Variables for each Service of the namespace would let a Service called "stackgate" set STACKGATE_… ones.
  out.member("enableServiceLinks", false);
  write_objects(out, "imagePullSecrets", pod.pull_secrets,
                [&](const std::string& name) { out.member("name", std::string_view(name)); });
  member_json(out, "securityContext", pod.security_context);
  member_json(out, "nodeSelector", pod.node_selector);
  member_json(out, "tolerations", pod.tolerations);
  member_json(out, "affinity", pod.affinity);
  member_text(out, "priorityClassName", pod.priority_class);
  member_text(out, "runtimeClassName", pod.runtime_class);
  member_text(out, "schedulerName", pod.scheduler);
  member_text(out, "restartPolicy", pod.restart_policy);
  member_text(out, "subdomain", pod.subdomain);
  if (pod.deadline_seconds) out.member("activeDeadlineSeconds", *pod.deadline_seconds);
  write_spread(out, pod.spread_over);
  out.member("terminationGracePeriodSeconds", pod.grace_seconds);
  write_containers(out, "initContainers", pod.init, pod.tmp);
  write_containers(out, "containers", pod.containers, pod.tmp);
  write_volumes(out, pod);
}

}  // namespace

void write_template(json::Writer& out, const Pod& pod) {
  out.object([&] {
    out.object("metadata", [&] {
      member_map(out, "labels", pod.labels);
      member_map(out, "annotations", pod.annotations);
    });
    out.object("spec", [&] { write_spec(out, pod); });
  });
}

}  // namespace stackgate::pods
