#include "validators/children.hpp"

#include <initializer_list>

namespace stackgate::validate {
namespace {

const json::Value* dig(const json::Value& from, std::initializer_list<std::string_view> path) {
  const json::Value* at = &from;
  for (const std::string_view key : path) {
    at = at->find(key);
    if (at == nullptr) return nullptr;
  }
  return at;
}

bool is_on(const json::Value& from, std::initializer_list<std::string_view> path) {
  const json::Value* flag = dig(from, path);
  return flag != nullptr && flag->boolean();
}

std::string_view text_at(const json::Value& from, std::initializer_list<std::string_view> path) {
  const json::Value* text = dig(from, path);
  return text == nullptr ? std::string_view{} : text->string();
}

void add_claim(std::vector<Child>& out, std::string_view owner, const json::Value* pvc) {
  if (pvc == nullptr || !is_on(*pvc, {"create"})) return;
  const std::string_view name = text_at(*pvc, {"name"});
  out.push_back({"PersistentVolumeClaim", name.empty() ? std::string(owner) + "-pvc" : std::string(name)});
}

void add_workload(std::vector<Child>& out, std::string_view name, const json::Value& spec) {
  const std::string own(name);
  const json::Value* nodes = dig(spec, {"multiNode", "size"});
  if (nodes != nullptr && nodes->integer() > 1) {
    // The LeaderWorkerSet's own controller makes a headless Service named like the set: hence the suffix.
    out.push_back({"LeaderWorkerSet", own + "-lws"});
    out.push_back({"Service", own + "-lws"});
    out.push_back({"ConfigMap", own + "-mpi-config"});
    out.push_back({"Secret", own + "-ssh-pk"});
  } else {
    out.push_back({"Deployment", own});
  }
  out.push_back({"Service", own});
  if (text_at(spec, {"serviceAccountName"}).empty())
    for (const std::string_view kind : {"ServiceAccount", "Role", "RoleBinding"}) out.push_back({kind, own});
  if (is_on(spec, {"expose", "ingress", "enabled"})) out.push_back({"Ingress", own});
  if (is_on(spec, {"expose", "httpRoute", "enabled"})) out.push_back({"HTTPRoute", own});
  if (is_on(spec, {"scale", "enabled"})) out.push_back({"HorizontalPodAutoscaler", own});
  if (is_on(spec, {"metrics", "enabled"})) out.push_back({"ServiceMonitor", own});
}

void add_pipeline(std::vector<Child>& out, const json::Value& spec) {
  const json::Value* services = spec.find("services");
  if (services == nullptr) return;
  for (const json::Value& entry : services->items()) {
    const json::Value* enabled = entry.find("enabled");
    if (enabled != nullptr && enabled->is_boolean() && !enabled->boolean()) continue;
    const std::string_view name = text_at(entry, {"name"});
    const json::Value* child = entry.find("spec");
    if (name.empty() || child == nullptr) continue;
    out.push_back({"InferenceService", std::string(name)});
    add_workload(out, name, *child);
  }
}

std::string_view pipeline_that_made(const json::Value& object) {
  const json::Value* owners = dig(object, {"metadata", "ownerReferences"});
  if (owners == nullptr) return {};
  for (const json::Value& owner : owners->items())
    if (text_at(owner, {"kind"}) == crds::info(crds::Kind::inference_pipeline).name &&
        text_at(owner, {"apiVersion"}).starts_with(crds::api_group))
      return text_at(owner, {"name"});
  return {};
}

}  // namespace

std::string puller_name(std::string_view cache) { return std::string(cache) + "-puller"; }

std::vector<Child> children_of(crds::Kind kind, std::string_view name, const json::Value& spec) {
  std::vector<Child> out;
  switch (kind) {
    case crds::Kind::inference_cache:
      out.push_back({"Job", std::string(name)});
      for (const std::string_view kind_of_child : {"ServiceAccount", "Role", "RoleBinding", "ConfigMap"})
        out.push_back({kind_of_child, puller_name(name)});
      add_claim(out, name, dig(spec, {"storage", "pvc"}));
      return out;
    case crds::Kind::inference_pipeline:
      add_pipeline(out, spec);
      return out;
    case crds::Kind::stack_customizer:
      out.push_back({"ConfigMap", std::string(name) + "-jobs"});
      add_claim(out, name, dig(spec, {"trainingConfig", "modelPVC"}));
      break;
    case crds::Kind::stack_guardrail:
      add_claim(out, name, dig(spec, {"configStore", "pvc"}));
      break;
    case crds::Kind::stack_datastore:
      add_claim(out, name, dig(spec, {"pvc"}));
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
  const json::Value* old = dig(claim, {"metadata", "annotations", "volume.beta.kubernetes.io/storage-class"});
  return old != nullptr ? old->string() : text_at(claim, {"spec", "storageClassName"});
}

Neighbour neighbour_of(crds::Kind kind, const json::Value& object) {
  static const json::Value nothing{};
  const json::Value* spec = object.find("spec");
  if (spec == nullptr) spec = &nothing;
  Neighbour out{.kind = kind,
                .name = std::string(text_at(object, {"metadata", "name"})),
                .image_tag = std::string(text_at(*spec, {"image", "tag"})),
                .cache = {},
                .children = {},
                .owner = std::string(pipeline_that_made(object))};
  const bool leaving = !text_at(object, {"metadata", "deletionTimestamp"}).empty();
  if (kind == crds::Kind::inference_service && !leaving) out.cache = text_at(*spec, {"storage", "nimCache", "name"});
  for (Child& child : children_of(kind, out.name, *spec)) out.children.emplace_back(child.kind, std::move(child.name));
  return out;
}

}  // namespace stackgate::validate
