#include "cluster_state/facts.hpp"

#include <algorithm>
#include <array>

#include "cluster_state/pruning.hpp"
#include "services/kit/base/base64.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/kube/object.hpp"
#include "validators/children.hpp"

namespace stackgate::cluster {
namespace {

using validate::ReferencedObject;
using validate::ReferenceKind;

void append_all(std::string& key, const std::vector<std::string>& words) {
  for (const std::string& word : words) key.append(word).push_back('\0');
  key.push_back('\1');
}

}  // namespace

kube::ResourceType resource_type(ReferenceKind kind) {
  static const std::array types{kube::types::secrets,
                                kube::types::config_maps,
                                kube::types::persistent_volume_claims,
                                kube::types::service_accounts,
                                resource_type(crds::Kind::inference_cache),
                                kube::types::storage_classes,
                                kube::types::priority_classes,
                                kube::types::runtime_classes};
  return types[static_cast<std::size_t>(kind)];
}

kube::ResourceType resource_type(crds::Kind kind) {
  return {crds::api_group, crds::api_version, crds::info(kind).plural, true};
}

ReferencedObject referred_of(ReferenceKind reference_kind, const json::Value& object) {
  ReferencedObject out;
  out.presence = validate::Presence::present;
  switch (reference_kind) {
    case ReferenceKind::secret:
    case ReferenceKind::config_map:
      for (const char* part : {"data", "stringData", "binaryData"})
        for (const json::Member& each : json::members(&object, {part}))
          if (part != std::string_view("stringData") || json::at(&object, {"data", each.key}) == nullptr)
            out.keys.emplace_back(each.key);
      if (reference_kind == ReferenceKind::secret) out.type = json::text(&object, {"type"});
      break;
    case ReferenceKind::persistent_volume_claim:
      for (const json::Value& mode : json::items(&object, {"spec", "accessModes"}))
        out.access_modes.emplace_back(mode.string());
      out.size = json::text(&object, {"spec", "resources", "requests", "storage"});
      out.storage_class = validate::storage_class_of(object);
      break;
    case ReferenceKind::storage_class:
      out.allows_expansion = json::flag(&object, {"allowVolumeExpansion"});
      break;
    case ReferenceKind::inference_cache:
      out.state = json::text(&object, {"status", "state"});
      for (const json::Value& each : json::items(&object, {"status", "profiles"}))
        if (const json::Value name = json::value_at(&each, {"name"}); name.is_string())
          out.profiles.emplace_back(name.string());
      break;
    default:
      break;
  }
  return out;
}

std::vector<validate::ConfigMapEntry> contents_of(const json::Value& config_map) {
  std::vector<validate::ConfigMapEntry> out;
  for (const json::Member& each : json::members(&config_map, {"data"}))
    out.push_back({std::string(each.key), std::string(each.value.string())});
  for (const json::Member& each : json::members(&config_map, {"binaryData"}))
    out.push_back({std::string(each.key), base64::decode(each.value.string()).value_or("")});
  return out;
}

StoredResource stored_resource(const json::Value& object) {
  return {.uid = std::string(kube::metadata(object, "uid")),
          .version = version_of(object),
          .generation = json::integer(&object, {"metadata", "generation"}),
          .state = std::string(json::text(&object, {"status", "state"})),
          .json = std::make_shared<const std::string>(pruned_json(object, {.status = true}))};
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
  if (wanted.itself == kind && name == wanted.names.front()) return false;
  if (wanted.kind == kind || wanted.has_name(name)) return true;
  if (wanted.users_of && kind == crds::Kind::inference_service && kept.cache == *wanted.users_of) return true;
  // An empty name is the resource's own.
  return std::ranges::any_of(*kept.children,
                             [&](const auto& child) { return !child.second.empty() && wanted.has_name(child.second); });
}

}  // namespace stackgate::cluster
