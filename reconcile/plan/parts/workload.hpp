// A server that a resource runs: from its spec to all the children that serve it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconcile/plan/parts/container.hpp"
#include "reconcile/plan/parts/scope.hpp"

namespace stackgate::reconcile::parts {

struct PolicyRule {
  std::vector<std::string> groups;  // "" is the core group
  std::vector<std::string> resources;
  std::vector<std::string> verbs;
  std::vector<std::string> names = {};  // resourceNames; empty for all
};

enum class Rollout : std::uint8_t {
  surge,     // a new pod starts before an old one stops: nothing is interrupted
  in_place,  // an old pod stops first: where a GPU or a volume is not to be had twice
  recreate,  // all old pods are gone before a new one starts: where two must never write at once
};

struct Workload {
  pods::Container main;
  /// What the kind knows of its pods: labels and annotations beside the operator's own, volumes, init containers, …;
  /// pod_of() adds the rest.
  pods::Pod pod = {};
  std::vector<PolicyRule> rights = {};                              // of the Role; none: the pods get no token either
  bool token = false;                                               // the pods get a token although the Role is empty
  std::optional<std::int64_t> fs_group = {};                        // when podSecurityContext names none
  std::optional<std::int64_t> run_as_user = {}, run_as_group = {};  // of a kind without podSecurityContext
  bool runs_once = false;  // the pods of a Job: they are not restarted, and not spread
  std::int64_t replicas = 1;
  Rollout rollout = Rollout::surge;
  bool spread = true;  // over nodes and zones, unless the user writes an affinity
  std::string metrics_path = "/metrics";
};

struct WorkloadDefaults {
  std::string_view container = {};   // its name
  std::string_view image_name = {};  // in Settings::images, when spec.image names no repository
  std::string_view startup_path = "/health", readiness_path = "/health", liveness_path = "/health";
  int startup_period = 5, startup_failures = 60;  // seconds and count: how long it may take to start
};

/// What all kinds that serve have in common: image, port `api`, replicas, resources, probes, labels. Rollout is
/// in_place when GPUs are asked for. The caller puts its own env, then append_user_env(), and adds volumes, init
/// containers, rights.
Workload read_workload(const Scope& scope, const WorkloadDefaults& defaults);

/// The user's variables, behind those that are there; one of the same name replaces the operator's.
void append_user_env(const Scope& scope, Workload& workload);

/// Whether an autoscaler sets the number of replicas.
bool is_scaled(const Scope& scope);

/// Adds the volume to the pods, mounted into the main container at `path`.
void mount(Workload& workload, pods::Volume volume, std::string_view path, bool read_only = true,
           std::string_view sub_path = {});
/// Mounts a claim (a `pvc` object of the spec) into the main container. A claim that one node at a time may mount makes
/// the rollout in_place.
void mount_claim(const Scope& scope, Workload& workload, const Field& pvc, std::string_view volume,
                 std::string_view path, bool read_only = false);
/// pvc.name, or <resource>-pvc.
std::string claim_name(const Scope& scope, const Field& pvc);
/// The PersistentVolumeClaim of `pvc`, when pvc.create is on. `owned` false: it outlives the resource.
void add_claim(const Scope& scope, const Field& pvc, bool owned = false);

/// ServiceAccount, Role, RoleBinding, Service, Deployment and, where asked for, Ingress, HTTPRoute,
/// HorizontalPodAutoscaler, ServiceMonitor. What an API that is not served would need is left out and reported in a
/// condition.
void add_workload(const Scope& scope, const Workload& workload);

// The pieces of add_workload(), for kinds that put them together differently.
void add_access(const Scope& scope, const Workload& workload);
/// Role and RoleBinding `name` for a ServiceAccount of the namespace; an empty Role when there are no rights.
void add_rights(const Scope& scope, std::string_view name, std::string_view service_account,
                const std::vector<PolicyRule>& rights);
struct ServiceShape {
  pods::TextMap selector = {};         // instead of selector_labels()
  std::vector<pods::Port> ports = {};  // beside `api` and `metrics`
};
void add_service(const Scope& scope, const ServiceShape& shape = {});
void add_deployment(const Scope& scope, const Workload& workload);
void add_routes(const Scope& scope);
void add_autoscaler(const Scope& scope);
void add_service_monitor(const Scope& scope, std::string_view metrics_path);

/// With what the spec says of all pods (scheduling, security) and the resource's labels and inputs.
pods::Pod pod_of(const Scope& scope, const Workload& workload);

}  // namespace stackgate::reconcile::parts
