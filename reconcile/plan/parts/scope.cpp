#include "reconcile/plan/parts/scope.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reconcile/labels.hpp"
#include "reconcile/plan/parts/canonical.hpp"
#include "validators/schemas.hpp"

namespace stackgate::reconcile::parts {

Scope::Scope(const Planning& from)
    : planning(from),
      name(from.resource.name),
      component(component_of(from.resource.kind)),
      spec(Field::root(walk, *from.resource.spec, &validate::spec_node(from.resource.kind))) {}

std::string_view own_image(const Scope& scope, std::string_view name) {
  const auto& images = scope.planning.settings.images;
  const auto found = images.find(name);
  return found == images.end() ? std::string_view() : found->second;
}

pods::TextMap selector_labels(const Scope& scope) {
  return {{std::string(app_label), scope.name}, {std::string(component_label), scope.component}};
}

pods::TextMap own_labels(const Scope& scope) {
  pods::TextMap out = selector_labels(scope);
  out.emplace(name_label, scope.name);
  out.emplace(instance_label, scope.name);
  out.emplace(part_of_label, part_of);
  out.emplace(managed_by_label, managed_by);
  return out;
}

void begin_child(const Scope& scope, json::Writer& out, ChildType type, std::string_view name, const ChildHead& head) {
  const Resource& resource = scope.planning.resource;
  out.member("apiVersion", head.api_version.empty() ? info(type).api_version : head.api_version);
  out.member("kind", info(type).kind);
  out.object("metadata", [&] {
    out.member("name", name);
    pods::member_text(out, "namespace", resource.ns);
    pods::TextMap labels = own_labels(scope);
    labels.insert(head.labels.begin(), head.labels.end());
    pods::member_map(out, "labels", labels);
    pods::member_map(out, "annotations", head.annotations);
    if (!head.owned) return;
    out.array("ownerReferences", [&] {
      out.object([&] {
        out.member("apiVersion", crds::api_group_version);
        out.member("kind", crds::info(resource.kind).name);
        out.member("name", resource.name);
        out.member("uid", resource.uid);
        out.member("controller", true);
        out.member("blockOwnerDeletion", true);
      });
    });
  });
}

void put_child(const Scope& scope, ChildType type, std::string name, std::string body, const ChildHead& head) {
  DesiredChild child;
  child.type = type;
  child.name = std::move(name);
  child.body = ChildBody(std::move(body));
  child.keep = head.keep;
  child.follows_live_replicas = head.follows_live_replicas;
  child.generate_ssh_key = head.generate_ssh_key;
  scope.planning.plan.children.push_back(std::move(child));
}

void note_missing_api(const Scope& scope, std::string_view field, ChildType type, std::string_view product) {
  const std::string message = fmt::format("spec.{} asks for the {} {}, which this cluster does not know; install {}",
                                          field, info(type).api_version, info(type).kind, product);
  auto& conditions = scope.planning.plan.status.conditions;
  const auto found = std::ranges::find(conditions, optional_apis_condition, &Condition::type);
  if (found == conditions.end())
    conditions.push_back({std::string(optional_apis_condition), "False", "NotInstalled", message});
  else
    found->message += "; " + message;
}

}  // namespace stackgate::reconcile::parts
