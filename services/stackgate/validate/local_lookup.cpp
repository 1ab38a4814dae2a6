#include "services/stackgate/validate/local_lookup.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "cluster_state/facts.hpp"
#include "crds/kinds.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/kube/object.hpp"
#include "validators/children.hpp"

namespace stackgate {

namespace {

using validate::ReferencedObject;
using validate::ReferenceKind;

/// As it would be stored.
ReferencedObject describe(const json::Value& object, ReferenceKind reference_kind) {
  ReferencedObject out = cluster::referred_of(reference_kind, object);
  if (reference_kind == ReferenceKind::secret && out.type.empty()) out.type = "Opaque";
  return out;
}

}  // namespace

std::string_view namespace_of(const json::Value& object, std::string_view ns) {
  const std::string_view written = kube::metadata(object, "namespace");
  return written.empty() ? ns : written;
}

void LocalObjects::add(const json::Value& object, std::string_view ns) {
  const std::string_view kind = json::text(&object, {"kind"}), group_version = json::text(&object, {"apiVersion"});
  const std::size_t slash = group_version.find('/');
  const std::string_view group = slash == std::string_view::npos ? std::string_view{} : group_version.substr(0, slash);
  const std::string_view name = kube::metadata(object, "name");
  if (name.empty()) return;
  const std::string_view where = namespace_of(object, ns);
  if (group == crds::api_group) {
    if (const auto ours = crds::kind_named(kind)) add_neighbour(*ours, object, where);
  }
  for (const validate::ReferenceKindInfo& each : validate::reference_kinds)
    if (each.name == kind && cluster::resource_type(each.kind).group == group)
      objects_.insert_or_assign(Key{each.kind, is_cluster_wide(each.kind) ? "" : where, name},
                                describe(object, each.kind));
  if (kind == kind_name(ReferenceKind::config_map) && group.empty())
    config_maps_.insert_or_assign({std::string(where), std::string(name)}, cluster::contents_of(object));
}

const std::vector<validate::ConfigMapEntry>* LocalObjects::contents(std::string_view ns,
                                                                    std::string_view config_map) const {
  const auto found = config_maps_.find({std::string(ns), std::string(config_map)});
  return found == config_maps_.end() ? nullptr : &found->second;
}

const ReferencedObject* LocalObjects::find(ReferenceKind kind, std::string_view ns, std::string_view name) const {
  const auto found = objects_.find(Key{kind, ns, name});
  return found == objects_.end() ? nullptr : &found->second;
}

void LocalObjects::add_neighbour(crds::Kind kind, const json::Value& object, std::string_view ns) {
  Namespace& space = namespaces_[std::string(ns)];
  validate::Neighbour neighbour = validate::neighbour_of(kind, object);
  const std::size_t index = space.resources.size();
  if (!space.by_name.emplace(std::pair(kind, neighbour.name), index).second) return;
  const auto enter = [&](const std::string& name) {
    std::vector<std::size_t>& places = space.by_child[name];
    if (places.empty() || places.back() != index) places.push_back(index);
  };
  enter(neighbour.name);
  for (const auto& [child_kind, child_name] : neighbour.children) enter(child_name);
  if (!neighbour.image_tag.empty()) space.by_tag.emplace(std::pair(kind, neighbour.image_tag), index);
  if (!neighbour.cache.empty()) space.by_cache[neighbour.cache].push_back(index);
  space.resources.push_back(std::move(neighbour));
}

std::vector<validate::Neighbour> LocalObjects::neighbours_of(crds::Kind kind, std::string_view ns,
                                                             std::string_view name) const {
  std::vector<validate::Neighbour> out;
  const auto found = namespaces_.find(ns);
  if (found == namespaces_.end()) return out;
  const Namespace& space = found->second;
  std::set<std::size_t> indices;
  if (kind == crds::Kind::inference_cache)
    if (const auto users = space.by_cache.find(std::string(name)); users != space.by_cache.end())
      indices.insert(users->second.begin(), users->second.end());

  if (const auto self = space.by_name.find({kind, std::string(name)}); self != space.by_name.end()) {
    const auto take = [&](const std::string& child) {
      if (const auto places = space.by_child.find(child); places != space.by_child.end())
        indices.insert(places->second.begin(), places->second.end());
    };
    const validate::Neighbour& own = space.resources[self->second];
    take(own.name);
    for (const auto& [child_kind, child_name] : own.children) take(child_name);
    if (kind == crds::Kind::stack_entitystore || kind == crds::Kind::stack_customizer) {
      const crds::Kind other =
          kind == crds::Kind::stack_customizer ? crds::Kind::stack_entitystore : crds::Kind::stack_customizer;
      for (const auto& [kind_and_tag, index] : space.by_tag)
        if (kind_and_tag.first == other) indices.insert(index);
    }
    indices.erase(self->second);
  }
  for (const std::size_t index : indices) out.push_back(space.resources[index]);
  return out;
}

ReferencedObject LocalLookup::find(ReferenceKind kind, std::string_view ns, std::string_view name) {
  if (const ReferencedObject* local = objects_.find(kind, ns, name)) return *local;
  return cluster_ == nullptr ? ReferencedObject{} : cluster_->find(kind, ns, name);
}

std::optional<std::vector<validate::ConfigMapEntry>> LocalLookup::contents(std::string_view ns,
                                                                           std::string_view config_map) {
  if (const auto* local = objects_.contents(ns, config_map)) return *local;
  return cluster_ == nullptr ? std::nullopt : cluster_->contents(ns, config_map);
}

bool LocalLookup::neighbours(std::string_view ns, std::vector<validate::Neighbour>& out) {
  std::vector<validate::Neighbour> all = objects_.neighbours_of(kind_, ns, name_);
  if (cluster_ != nullptr) {
    std::vector<validate::Neighbour> stored;
    if (!cluster_->neighbours(ns, stored)) return false;
    const std::size_t written = all.size();
    for (validate::Neighbour& each : stored) {
      const bool replaced =
          std::any_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(written),
                      [&](const auto& mine) { return mine.kind == each.kind && mine.name == each.name; });
      if (!replaced) all.push_back(std::move(each));
    }
  }
  out = std::move(all);
  return true;
}

}  // namespace stackgate
