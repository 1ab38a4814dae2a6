#include "validators/children.hpp"

#include "services/kit/json/read.hpp"

namespace stackgate::validate {
namespace {

void add_claim(std::vector<Child>& out, std::string_view owner, const json::Value* pvc) {
  if (!json::flag(pvc, {"create"})) return;
  out.push_back({"PersistentVolumeClaim", claim_name(owner, json::text(pvc, {"name"}))});
}

void add_workload(std::vector<Child>& out, std::string_view name, const json::Value& spec) {
  const std::string own(name);
  if (json::integer(&spec, {"multiNode", "size"}) > 1) {
    // The LeaderWorkerSet's own controller makes a headless Service named like the set: hence the suffix.
    out.push_back({"LeaderWorkerSet", own + "-lws"});
    out.push_back({"Service", own + "-lws"});
    out.push_back({"ConfigMap", own + "-mpi-config"});
    out.push_back({"Secret", own + "-ssh-pk"});
  } else {
    out.push_back({"Deployment", own});
  }
  out.push_back({"Service", own});
  if (json::text(&spec, {"serviceAccountName"}).empty())
    for (const std::string_view kind : {"ServiceAccount", "Role", "RoleBinding"}) out.push_back({kind, own});
  if (json::flag(&spec, {"expose", "ingress", "enabled"})) out.push_back({"Ingress", own});
  if (json::flag(&spec, {"expose", "httpRoute", "enabled"})) out.push_back({"HTTPRoute", own});
  if (json::flag(&spec, {"scale", "enabled"})) out.push_back({"HorizontalPodAutoscaler", own});
  if (json::flag(&spec, {"metrics", "enabled"})) out.push_back({"ServiceMonitor", own});
}

void add_pipeline(std::vector<Child>& out, const json::Value& spec) {
  for (const json::Value& entry : json::items(&spec, {"services"})) {
    if (!json::flag_at(entry, "enabled", true)) continue;
    const std::string_view name = json::text(&entry, {"name"});
    const json::Value* child = entry.find("spec");
    if (name.empty() || child == nullptr) continue;
    out.push_back({"InferenceService", std::string(name)});
    add_workload(out, name, *child);
  }
}

std::string_view pipeline_that_made(const json::Value& object) {
  for (const json::Value& owner : json::items(&object, {"metadata", "ownerReferences"}))
    if (json::text(&owner, {"kind"}) == crds::info(crds::Kind::inference_pipeline).name &&
        json::text(&owner, {"apiVersion"}).starts_with(crds::api_group))
      return json::text(&owner, {"name"});
  return {};
}

}  // namespace

std::string puller_name(std::string_view cache) { return std::string(cache) + "-puller"; }

std::string claim_name(std::string_view resource, std::string_view written) {
  return written.empty() ? std::string(resource) + "-pvc" : std::string(written);
}

std::vector<Child> children_of(crds::Kind kind, std::string_view name, const json::Value& spec) {
  std::vector<Child> out;
  switch (kind) {
    case crds::Kind::inference_cache:
      out.push_back({"Job", std::string(name)});
      for (const std::string_view kind_of_child : {"ServiceAccount", "Role", "RoleBinding", "ConfigMap"})
        out.push_back({kind_of_child, puller_name(name)});
      add_claim(out, name, json::at(&spec, {"storage", "pvc"}));
      return out;
    case crds::Kind::inference_pipeline:
      add_pipeline(out, spec);
      return out;
    case crds::Kind::stack_customizer:
      out.push_back({"ConfigMap", std::string(name) + "-jobs"});
      add_claim(out, name, json::at(&spec, {"trainingConfig", "modelPVC"}));
      break;
    case crds::Kind::stack_guardrail:
      add_claim(out, name, json::at(&spec, {"configStore", "pvc"}));
      break;
    case crds::Kind::stack_datastore:
      add_claim(out, name, json::at(&spec, {"pvc"}));
      break;
    case crds::Kind::stack_evaluator:
      for (const std::string_view kind_of_right : {"Role", "RoleBinding"})
        out.push_back({kind_of_right, std::string(name) + "-workflows"});
      break;
    case crds::Kind::inference_service:
    case crds::Kind::stack_entitystore:
      break;
  }
  add_workload(out, name, spec);
  return out;
}

std::string_view storage_class_of(const json::Value& claim) {
  const json::Value* old = json::at(&claim, {"metadata", "annotations", "volume.beta.kubernetes.io/storage-class"});
  return old != nullptr ? old->string() : json::text(&claim, {"spec", "storageClassName"});
}

Neighbour neighbour_of(crds::Kind kind, const json::Value& object) {
  const json::Value spec = json::value_at(&object, {"spec"});
  Neighbour out{.kind = kind,
                .name = std::string(json::text(&object, {"metadata", "name"})),
                .image_tag = std::string(json::text(&spec, {"image", "tag"})),
                .cache = {},
                .children = {},
                .owner = std::string(pipeline_that_made(object))};
  const bool leaving = !json::text(&object, {"metadata", "deletionTimestamp"}).empty();
  if (kind == crds::Kind::inference_service && !leaving) out.cache = json::text(&spec, {"storage", "nimCache", "name"});
  for (Child& child : children_of(kind, out.name, spec)) out.children.emplace_back(child.kind, std::move(child.name));
  return out;
}

}  // namespace stackgate::validate
