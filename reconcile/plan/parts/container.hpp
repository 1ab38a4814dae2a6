// The parts of a pod as values, and how they are written.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconcile/plan/parts/scope.hpp"

namespace stackgate::reconcile::parts {

/// One environment variable; `body` is the whole entry as JSON.
struct EnvVar {
  std::string name;
  std::string body;
};
EnvVar env_value(std::string_view name, std::string_view value);
EnvVar env_from_secret(std::string_view name, std::string_view secret, std::string_view key, bool optional = false);
EnvVar env_from_config_map(std::string_view name, std::string_view map, std::string_view key, bool optional = false);
/// A field of the pod: "metadata.namespace", "status.podIP".
EnvVar env_from_field(std::string_view name, std::string_view path);
/// The user's entry as it stands.
std::vector<EnvVar> read_env(const Field& env);

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

struct Mount {
  std::string volume, path;
  std::string sub_path = {};
  bool read_only = false;
};

/// An HTTP probe on the port `api`.
struct Probe {
  std::string path;
  int initial_delay = 0, period = 10, timeout = 1, failures = 3, successes = 1;  // seconds and counts
  /// Seconds until it has failed for good when it never succeeds.
  std::int64_t budget() const { return initial_delay + std::int64_t{period} * failures; }
};
/// `defaults` with what `field` (a probe's settings) says instead.
Probe read_probe(const Field& field, Probe defaults);

struct NamedPort {
  std::string name;
  int number;
};

struct Container {
  std::string name;
  std::string image;
  std::string pull_policy = {};  // empty: Kubernetes decides by the tag
  std::vector<std::string> command = {}, args = {};
  std::vector<EnvVar> env = {};  // later entries of a name replace earlier ones
  std::vector<Mount> mounts = {};
  std::string resources = {};         // JSON; empty for none
  bool serves = false;                // has the port `api`
  std::vector<NamedPort> ports = {};  // further ones
  std::optional<Probe> startup = {}, readiness = {}, liveness = {};
  bool read_only_root = true;  // with /tmp as an emptyDir: see Workload
};

void write_container(json::Writer& out, const Container& container);

/// spec.resources as JSON, quantities rewritten; empty when there are none.
std::string read_resources(const Field& resources);

/// repository:tag of an image object. Where no repository is written `fallback` stands in, with the tag if that is.
std::string read_image(const Field& image, std::string_view fallback = {});

}  // namespace stackgate::reconcile::parts
