// A pod template as a value, and how it is written: containers, probes, mounts, scheduling. Strict where the caller
// says nothing: no privileges, a read-only root, no token, no variables for Services.
//
//   pods::Pod pod{.service_account = "trainer", .restart_policy = "Never"};
//   pod.containers.push_back({.name = "main", .image = image, .env = {pods::env_value("RANK", "0")}});
//   out.key("template");
//   pods::write_template(out, pod);
//
// Pure and thread-safe.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/json/write.hpp"
#include "services/kit/pods/members.hpp"

namespace stackgate::pods {

// --- Environment variables and volumes: where a container's texts and files come from (sources.cpp) ---

/// `body` is the whole entry as JSON.
struct EnvVar {
  std::string name;
  std::string body;
};
/// Kubernetes expands "$(NAME)" in `value`.
EnvVar env_value(std::string_view name, std::string_view value);
/// The same without expansion, for text that others wrote: every '$' is doubled.
/// Source: https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/
EnvVar env_text(std::string_view name, std::string_view text);
EnvVar env_from_secret(std::string_view name, std::string_view secret, std::string_view key, bool optional = false);
/// A field of the pod: "metadata.namespace", "status.podIP".
EnvVar env_from_field(std::string_view name, std::string_view path);

struct KeyToPath {
  std::string key, path;
};
/// `body` is the whole volume as JSON.
struct Volume {
  std::string name;
  std::string body;
};
/// Without `items` every key is a file. `mode` is the files' permission bits (0440 suits processes of the pod's
/// fsGroup).
Volume secret_volume(std::string_view name, std::string_view secret, const std::vector<KeyToPath>& items = {},
                     int mode = 0440, bool optional = false);
Volume config_map_volume(std::string_view name, std::string_view map, const std::vector<KeyToPath>& items = {},
                         std::optional<int> mode = {}, bool optional = false);
Volume claim_volume(std::string_view name, std::string_view claim, bool read_only = false);
/// Memory-backed; `size` is a quantity, empty for the node's limit.
Volume memory_volume(std::string_view name, std::string_view size = {});
Volume empty_volume(std::string_view name, std::string_view size = {});

// --- The pod ---

struct Mount {
  std::string volume, path;
  std::string sub_path = {};
  bool read_only = false;
};

struct Port {
  std::string name;
  int number;
};

/// An HTTP probe of the port `api`.
struct Probe {
  std::string path;
  int initial_delay = 0, period = 10, timeout = 1, failures = 3, successes = 1;  // seconds and counts
  /// Seconds until it has failed for good when it never succeeds.
  std::int64_t budget() const { return initial_delay + std::int64_t{period} * failures; }
};

struct Container {
  std::string name;
  std::string image;
  std::string pull_policy = {};  // empty: Kubernetes decides by the tag
  std::vector<std::string> command = {}, args = {};
  std::vector<EnvVar> env = {};  // later entries of a name replace earlier ones
  std::vector<Mount> mounts = {};
  std::string resources = {};  // JSON; empty for none
  std::vector<Port> ports = {};
  std::optional<Probe> startup = {}, readiness = {}, liveness = {};
  bool read_only_root = true;
};

struct Pod {
  TextMap labels = {}, annotations = {};
  std::string service_account = {};
  bool token = false;  // whether that account's token is mounted
  std::vector<std::string> pull_secrets = {};
  /// JSON. What is said here is all that is said.
  std::string security_context = R"({"runAsNonRoot":true,"seccompProfile":{"type":"RuntimeDefault"}})";
  std::string node_selector = {}, tolerations = {}, affinity = {};  // JSON; empty for none
  std::string priority_class = {}, runtime_class = {}, scheduler = {};
  std::string restart_policy = {};                    // empty: Always
  std::string subdomain = {};                         // of a headless Service: the pod's host name is found below it
  std::optional<std::int64_t> deadline_seconds = {};  // since a node has taken it; then it has failed
  /// Pods with these labels are spread over nodes and zones where there is room; empty: they are not.
  TextMap spread_over = {};
  int grace_seconds = 30;
  std::vector<Container> init = {}, containers = {};
  std::vector<Volume> volumes = {};
  bool tmp = true;  // an emptyDir at /tmp of every container that mounts nothing there
};

/// {"metadata": …, "spec": …}: the value of `template`.
void write_template(json::Writer& out, const Pod& pod);

}  // namespace stackgate::pods
