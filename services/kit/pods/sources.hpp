// Environment variables and volumes: where a container's texts and files come from. Pure and thread-safe.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::pods {

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

}  // namespace stackgate::pods
