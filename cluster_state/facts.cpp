#include "cluster_state/facts.hpp"

#include <algorithm>

#include "cluster_state/pruning.hpp"
#include "services/kit/kube/object.hpp"
#include "validators/children.hpp"

namespace stackgate::cluster {
namespace {

using validate::ReferencedObject;
using validate::ReferenceKind;

void add_keys(const json::Value& object, std::string_view member, std::vector<std::string>& out) {
  if (const json::Value* data = object.find(member); data != nullptr)
    for (const json::Member& each : data->members()) out.emplace_back(each.key);
}

void add_profiles(const json::Value& cache, std::vector<std::string>& out) {
  if (const json::Value* profiles = kube::at(cache, {"status", "profiles"}); profiles != nullptr)
    for (const json::Value& each : profiles->items())
      if (const json::Value* name = each.find("name"); name != nullptr && name->is_string())
        out.emplace_back(name->string());
}

void append_all(std::string& key, const std::vector<std::string>& words) {
  for (const std::string& word : words) key.append(word).push_back('\0');
  key.push_back('\1');
}

}  // namespace

kube::ResourceType resource_type(ReferenceKind reference_kind) {
  switch (reference_kind) {
    case ReferenceKind::secret:
      return kube::types::secrets;
    case ReferenceKind::config_map:
      return kube::types::config_maps;
    case ReferenceKind::persistent_volume_claim:
      return kube::types::persistent_volume_claims;
    case ReferenceKind::service_account:
      return kube::types::service_accounts;
    case ReferenceKind::inference_cache:
      return resource_type(crds::Kind::inference_cache);
    case ReferenceKind::storage_class:
      return kube::types::storage_classes;
    case ReferenceKind::priority_class:
      return kube::types::priority_classes;
    case ReferenceKind::runtime_class:
      return kube::types::runtime_classes;
  }
  return {};
}

kube::ResourceType resource_type(crds::Kind kind) {
  return {crds::api_group, crds::api_version, crds::info(kind).plural, true};
}

ReferencedObject referred_of(ReferenceKind reference_kind, const json::Value& object) {
  ReferencedObject out;
  out.presence = validate::Presence::present;
  switch (reference_kind) {
    case ReferenceKind::secret:
      add_keys(object, "data", out.keys);
      if (const json::Value* type = object.find("type"); type != nullptr) out.type = type->string();
      break;
    case ReferenceKind::config_map:
      add_keys(object, "data", out.keys);
      add_keys(object, "binaryData", out.keys);
      break;
    case ReferenceKind::persistent_volume_claim:
      if (const json::Value* modes = kube::at(object, {"spec", "accessModes"}); modes != nullptr)
        for (const json::Value& mode : modes->items()) out.access_modes.emplace_back(mode.string());
      if (const json::Value* size = kube::at(object, {"spec", "resources", "requests", "storage"}); size != nullptr)
        out.size = size->string();
      out.storage_class = validate::storage_class_of(object);
      break;
    case ReferenceKind::storage_class:
      if (const json::Value* allows = object.find("allowVolumeExpansion"); allows != nullptr)
        out.allows_expansion = allows->boolean();
      break;
    case ReferenceKind::inference_cache:
      if (const json::Value* state = kube::at(object, {"status", "state"}); state != nullptr)
        out.state = state->string();
      add_profiles(object, out.profiles);
      break;
    default:
      break;
  }
  return out;
}

StoredResource stored_resource(const json::Value& object) {
  StoredResource out{.uid = std::string(kube::metadata(object, "uid")),
                     .version = version_of(object),
                     .json = std::make_shared<const std::string>(pruned_json(object, {.status = true}))};
  if (const json::Value* state = kube::at(object, {"status", "state"}); state != nullptr) out.state = state->string();
  if (const json::Value* generation = kube::at(object, {"metadata", "generation"}); generation != nullptr)
    out.generation = generation->integer();
  return out;
}

template <class T>
std::shared_ptr<const T> FactStore::intern(Table<T>& table, std::string key, T value) {
  const std::scoped_lock lock(mutex_);
  auto& slot = table[std::move(key)];
  if (auto known = slot.lock()) return known;
  auto made = std::make_shared<const T>(std::move(value));
  slot = made;
  // Sets of keys that nobody uses any more are swept out whenever the table has doubled.
  if ((table.size() & (table.size() - 1)) == 0 && table.size() >= 64)
    std::erase_if(table, [](const auto& entry) { return entry.second.expired(); });
  return made;
}

std::shared_ptr<const ReferencedObject> FactStore::intern(ReferencedObject referred) {
  std::string key;
  append_all(key, referred.keys);
  append_all(key, {referred.type, referred.state, referred.size, referred.storage_class,
                   referred.allows_expansion ? "grows" : ""});
  append_all(key, referred.access_modes);
  append_all(key, referred.profiles);
  return intern(referred_, std::move(key), std::move(referred));
}

std::shared_ptr<const Children> FactStore::intern(Children children) {
  std::string key;
  for (const auto& [kind, name] : children) append_all(key, {kind, name});
  return intern(children_, std::move(key), std::move(children));
}

Kept FactStore::keep(crds::Kind kind, const json::Value& object) {
  validate::Neighbour neighbour = validate::neighbour_of(kind, object);
  for (auto& [child_kind, child_name] : neighbour.children)
    if (child_name == neighbour.name) child_name.clear();
  Kept out;
  out.image_tag = std::move(neighbour.image_tag);
  out.cache = std::move(neighbour.cache);
  out.owner = std::move(neighbour.owner).value_or(std::string{});
  out.children = intern(std::move(neighbour.children));
  if (kind == crds::Kind::inference_cache) out.referred = intern(referred_of(ReferenceKind::inference_cache, object));
  return out;
}

validate::Neighbour neighbour_of(crds::Kind kind, std::string_view name, const Kept& kept) {
  validate::Neighbour out{.kind = kind,
                          .name = std::string(name),
                          .image_tag = kept.image_tag,
                          .cache = kept.cache,
                          .children = *kept.children,
                          .owner = kept.owner};
  for (auto& [child_kind, child_name] : out.children)
    if (child_name.empty()) child_name = out.name;
  return out;
}

bool is_wanted(const validate::NeighbourFilter& wanted, crds::Kind kind, std::string_view name, const Kept& kept) {
  if (wanted.kind == kind || wanted.has_name(name)) return true;
  if (wanted.users_of && kind == crds::Kind::inference_service && kept.cache == *wanted.users_of) return true;
  // An empty name is the resource's own.
  return std::ranges::any_of(*kept.children,
                             [&](const auto& child) { return !child.second.empty() && wanted.has_name(child.second); });
}

}  // namespace stackgate::cluster
