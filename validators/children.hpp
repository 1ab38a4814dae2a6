// The objects that the operator makes for a resource: one list for the name limits, for collisions between resources,
// and for the reconciler.
//
//   workloads          Deployment (with multiNode.size > 1: LeaderWorkerSet <name>-lws with the headless Service of
//   that
//                      name that its controller makes, ConfigMap <name>-mpi-config and Secret <name>-ssh-pk), Service,
//                      and ServiceAccount, Role, RoleBinding where no serviceAccountName is given, all named like the
//                      resource; when asked for: Ingress, HTTPRoute, HorizontalPodAutoscaler, ServiceMonitor, likewise
//   StackCustomizer    ConfigMap <name>-jobs beside them
//   StackEvaluator     Role and RoleBinding <name>-workflows beside them, for the workflows' ServiceAccount
//   InferenceCache     Job named like the cache; ServiceAccount, Role, RoleBinding and ConfigMap <name>-puller
//   pvc.create         PersistentVolumeClaim pvc.name, or <name>-pvc
//   InferencePipeline  an InferenceService for each enabled entry, named like the ENTRY, and that one's children. The
//                      entry's name is thus the DNS name under which its dependents reach it, in every pipeline.
//
// Pure and thread-safe. Fields of a wrong type are passed over: the object may be one that nobody has checked.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crds/kinds.hpp"
#include "services/kit/json/value.hpp"
#include "validators/lookup.hpp"

namespace stackgate::validate {

struct Child {
  std::string_view kind;  // "Service"; static text
  std::string name;
};

/// What the download of that cache is known by in the cluster.
std::string puller_name(std::string_view cache);

/// Of a `pvc` object: the name that is `written` there, or else <resource>-pvc.
std::string claim_name(std::string_view resource, std::string_view written);

std::vector<Child> children_of(crds::Kind kind, std::string_view name, const json::Value& spec);

/// The class of a PersistentVolumeClaim, or empty; the annotation of old claims comes first.
/// Source: k8s.io/kubernetes/pkg/apis/core/v1/helper, GetPersistentVolumeClaimClass.
std::string_view storage_class_of(const json::Value& claim);

/// What the rules need to know of another resource of ours.
Neighbour neighbour_of(crds::Kind kind, const json::Value& object);

}  // namespace stackgate::validate
