#include "reconcile/observe/key.hpp"

#include <fmt/format.h>

#include "reconcile/labels.hpp"
#include "services/kit/kube/object.hpp"

namespace stackgate::reconcile {
namespace {

const json::Value* controller(const json::Value& object) {
  const json::Value* owners = kube::at(object, {"metadata", "ownerReferences"});
  if (owners == nullptr) return nullptr;
  for (const json::Value& owner : owners->items())
    if (const json::Value* flag = owner.find("controller"); flag != nullptr && flag->boolean()) return &owner;
  return nullptr;
}

std::string_view text(const json::Value& of, std::string_view member) {
  const json::Value* found = of.find(member);
  return found == nullptr ? std::string_view{} : found->string();
}

std::string_view label(const json::Value& object, std::string_view name) {
  const json::Value* found = kube::at(object, {"metadata", "labels", name});
  return found == nullptr ? std::string_view{} : found->string();
}

}  // namespace

std::string to_string(const Key& key) { return fmt::format("{} {}/{}", crds::info(key.kind).name, key.ns, key.name); }

std::optional<Key> owner_of(const json::Value& object) {
  const std::string_view ns = kube::metadata(object, "namespace");
  if (const json::Value* owner = controller(object);
      owner != nullptr && text(*owner, "apiVersion").starts_with(crds::api_group))
    if (const auto kind = crds::kind_named(text(*owner, "kind")))
      return Key{*kind, std::string(ns), std::string(text(*owner, "name"))};
  if (!is_managed(object)) return std::nullopt;
  const auto kind = kind_of_component(label(object, component_label));
  const std::string_view instance = label(object, instance_label);
  if (!kind || instance.empty()) return std::nullopt;
  return Key{*kind, std::string(ns), std::string(instance)};
}

std::string_view controller_uid(const json::Value& object) {
  const json::Value* owner = controller(object);
  return owner == nullptr ? std::string_view{} : text(*owner, "uid");
}

bool is_managed(const json::Value& object) { return label(object, managed_by_label) == managed_by; }

}  // namespace stackgate::reconcile
