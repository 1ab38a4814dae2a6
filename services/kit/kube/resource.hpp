// Where the API server keeps things: resource types and their request paths.
// Source: https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris
#pragma once
#include <string>
#include <string_view>

namespace stackgate::kube {

/// The views must outlive every use: string literals, as a rule.
struct ResourceType {
  std::string_view group;  // empty for the core group
  std::string_view version;
  std::string_view plural;
  bool namespaced = true;
};

namespace types {
inline constexpr ResourceType secrets{"", "v1", "secrets"};
inline constexpr ResourceType config_maps{"", "v1", "configmaps"};
inline constexpr ResourceType persistent_volume_claims{"", "v1", "persistentvolumeclaims"};
inline constexpr ResourceType service_accounts{"", "v1", "serviceaccounts"};
inline constexpr ResourceType namespaces{"", "v1", "namespaces", false};
inline constexpr ResourceType events{"", "v1", "events"};
inline constexpr ResourceType leases{"coordination.k8s.io", "v1", "leases"};
inline constexpr ResourceType storage_classes{"storage.k8s.io", "v1", "storageclasses", false};
inline constexpr ResourceType priority_classes{"scheduling.k8s.io", "v1", "priorityclasses", false};
inline constexpr ResourceType runtime_classes{"node.k8s.io", "v1", "runtimeclasses", false};
inline constexpr ResourceType validating_webhooks{"admissionregistration.k8s.io", "v1",
                                                  "validatingwebhookconfigurations", false};
inline constexpr ResourceType mutating_webhooks{"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations",
                                                false};
inline constexpr ResourceType custom_resource_definitions{"apiextensions.k8s.io", "v1", "customresourcedefinitions",
                                                          false};
}  // namespace types

/// "secrets", "inferencecaches.stackgate.dev": for messages and metric labels.
std::string to_string(const ResourceType& type);

/// "/api/v1", "/apis/apps/v1": what is under it is discovery's list of the version's types.
std::string version_path(const ResourceType& type);

/// "/api/v1/namespaces/ml/secrets"; an empty `ns` means all namespaces (or a cluster-wide type).
std::string collection_path(const ResourceType& type, std::string_view ns);

/// "/api/v1/namespaces/ml/secrets/hub", with "/status" or another sub-resource appended when given.
std::string object_path(const ResourceType& type, std::string_view ns, std::string_view name,
                        std::string_view subresource = {});

/// Percent-encodes everything but RFC 3986's unreserved characters, so that a name can never leave its path segment.
std::string escape(std::string_view text);

/// Builds "?a=b&c=d"; empty values are left out.
class Query {
 public:
  Query& add(std::string_view key, std::string_view value);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace stackgate::kube
