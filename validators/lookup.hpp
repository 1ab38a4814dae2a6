// What the rules may ask about the cluster. The rules stay pure: whoever calls them supplies an answerer.
//
// Implementations: cluster_state/ (watch cache, asks the API server before it returns absent), `stackgate validate`,
// tests (a table). Secret values never pass this interface: only the names of their keys.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crds/kinds.hpp"

namespace stackgate::validate {

enum class Presence : std::uint8_t {
  present,
  absent,
  unknown,  // could not be asked: a rule then warns, it never denies
};

enum class ReferenceKind : std::uint8_t {
  secret,
  config_map,
  persistent_volume_claim,
  service_account,
  inference_cache,
  storage_class,  // cluster-wide from here on: the namespace is empty
  priority_class,
  runtime_class,
};

/// Whether it has no namespace.
constexpr bool is_cluster_wide(ReferenceKind kind) { return kind >= ReferenceKind::storage_class; }

struct ReferenceKindInfo {
  ReferenceKind kind;
  std::string_view name;  // as users write it
};
inline constexpr std::array<ReferenceKindInfo, 8> reference_kinds{{
    {ReferenceKind::secret, "Secret"},
    {ReferenceKind::config_map, "ConfigMap"},
    {ReferenceKind::persistent_volume_claim, "PersistentVolumeClaim"},
    {ReferenceKind::service_account, "ServiceAccount"},
    {ReferenceKind::inference_cache, "InferenceCache"},
    {ReferenceKind::storage_class, "StorageClass"},
    {ReferenceKind::priority_class, "PriorityClass"},
    {ReferenceKind::runtime_class, "RuntimeClass"},
}};
constexpr std::string_view kind_name(ReferenceKind kind) {
  return reference_kinds[static_cast<std::size_t>(kind)].name;
}

struct ReferencedObject {
  Presence presence = Presence::unknown;
  std::vector<std::string> keys;           // of a Secret or ConfigMap
  std::string type;                        // of a Secret: "Opaque", "kubernetes.io/dockerconfigjson", …
  std::string state;                       // of an InferenceCache: status.state
  std::vector<std::string> access_modes;   // of a claim
  std::vector<std::string> profiles = {};  // of an InferenceCache: status.profiles[].name
  std::string size = {};                   // of a claim: what it asks for, as it is written
  std::string storage_class = {};          // of a claim: its class, also one that it got by default; empty: none
  bool allows_expansion = false;           // of a StorageClass: whether its claims can grow
};

/// One key of a ConfigMap.
struct ConfigMapEntry {
  std::string key;
  std::string bytes;
};

/// Another resource of ours in the same namespace.
struct Neighbour {
  crds::Kind kind;
  std::string name;
  std::string image_tag;  // spec.image.tag, empty when not set
  std::string cache;      // InferenceService: spec.storage.nimCache.name; "" while it is deleted
  std::vector<std::pair<std::string, std::string>> children;  // (kind, name) of the objects made for it
  std::optional<std::string> owner = {};  // the InferencePipeline that made it; "": none did; nullopt: not known
};

/// Which neighbours can matter to one resource: those to which one of these applies. The views belong to the caller.
struct NeighbourFilter {
  std::vector<std::string_view> names;  // of the resource and the objects made for it: one of them is theirs, too
  std::optional<crds::Kind> kind = {};
  std::optional<std::string_view> users_of = {};  // InferenceServices that use this cache
  std::optional<crds::Kind> itself = {};          // the one of this kind that has the first name does not matter

  bool has_name(std::string_view name) const { return std::ranges::find(names, name) != names.end(); }
};

/// Called from one thread per review; implementations shared between reviews are thread-safe.
class Lookup {
 public:
  virtual ~Lookup() = default;
  virtual ReferencedObject find(ReferenceKind kind, std::string_view ns, std::string_view name) = 0;
  /// What a ConfigMap holds; nothing: it is not known, or not without asking.
  virtual std::optional<std::vector<ConfigMapEntry>> contents(std::string_view ns, std::string_view config_map) {
    static_cast<void>(ns), static_cast<void>(config_map);
    return std::nullopt;
  }
  /// False when the list could not be had; `out` is then untouched.
  virtual bool neighbours(std::string_view ns, std::vector<Neighbour>& out) = 0;
  /// The same of those that are wanted. Others may be among them; leaving them out makes it cheap where a namespace
  /// holds thousands.
  virtual bool wanted_neighbours(std::string_view ns, const NeighbourFilter& wanted, std::vector<Neighbour>& out) {
    static_cast<void>(wanted);
    return neighbours(ns, out);
  }
};

}  // namespace stackgate::validate
