#include "reconcile/observe/key.hpp"

#include <fmt/format.h>

#include "reconcile/labels.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/kube/object.hpp"

namespace stackgate::reconcile {
namespace {

const json::Value* controller(const json::Value& object) {
  for (const json::Value& owner : json::items(&object, {"metadata", "ownerReferences"}))
    if (json::flag(&owner, {"controller"})) return &owner;
  return nullptr;
}

std::string_view label(const json::Value& object, std::string_view name) {
  return json::text(&object, {"metadata", "labels", name});
}

}  // namespace

std::string to_string(const Key& key) { return fmt::format("{} {}/{}", crds::info(key.kind).name, key.ns, key.name); }

std::optional<Key> owner_of(const json::Value& object) {
  const std::string_view ns = kube::metadata(object, "namespace");
  if (const json::Value* owner = controller(object); json::text(owner, {"apiVersion"}).starts_with(crds::api_group))
    if (const auto kind = crds::kind_named(json::text(owner, {"kind"})))
      return Key{*kind, std::string(ns), std::string(json::text(owner, {"name"}))};
  if (!is_managed(object)) return std::nullopt;
  const auto kind = kind_of_component(label(object, component_label));
  const std::string_view instance = label(object, instance_label);
  if (!kind || instance.empty()) return std::nullopt;
  return Key{*kind, std::string(ns), std::string(instance)};
}

std::string_view controller_uid(const json::Value& object) { return json::text(controller(object), {"uid"}); }

bool is_managed(const json::Value& object) { return label(object, managed_by_label) == managed_by; }

}  // namespace stackgate::reconcile
