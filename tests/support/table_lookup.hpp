// A Lookup over a table of objects in YAML: what a cluster knows, written down.
//
// An object without metadata.namespace lies in "default". The annotation `test/presence: unknown` makes the object one
// that could not be asked about. Not thread-safe.
#pragma once
#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/yaml/parse.hpp"
#include "validators/children.hpp"
#include "validators/lookup.hpp"

namespace stackgate::validate::tests {

class TableLookup : public Lookup {
 public:
  explicit TableLookup(std::string_view yaml) : text_(yaml), objects_(yaml::parse(text_)) {
    if (objects_.failed) throw std::runtime_error("cluster: " + objects_.error.message);
  }

  bool answers_neighbours = true;
  std::vector<std::string> asked;  // "Secret team-a/name" for each find()

  ReferencedObject find(ReferenceKind kind, std::string_view ns, std::string_view name) override {
    asked.push_back(std::string(kind_name(kind)) + " " + std::string(ns) + "/" + std::string(name));
    for (const json::Document& each : objects_.documents) {
      const json::Value& object = each.root;
      if (text(object, {"kind"}) != kind_name(kind) || text(object, {"metadata", "name"}) != name) continue;
      if (!ns.empty() && namespace_of(object) != ns) continue;
      return describe(object);
    }
    ReferencedObject absent;
    absent.presence = Presence::absent;
    return absent;
  }

  std::optional<std::vector<ConfigMapEntry>> contents(std::string_view ns, std::string_view config_map) override {
    for (const json::Document& each : objects_.documents) {
      if (text(each.root, {"kind"}) != "ConfigMap" || text(each.root, {"metadata", "name"}) != config_map) continue;
      if (namespace_of(each.root) != ns) continue;
      std::vector<ConfigMapEntry> out;
      if (const json::Value* data = each.root.find("data"))
        for (const json::Member& member : data->members())
          out.push_back({std::string(member.key), std::string(member.value.string())});
      return out;
    }
    return std::nullopt;
  }

  bool neighbours(std::string_view ns, std::vector<Neighbour>& out) override {
    if (!answers_neighbours) return false;
    for (const json::Document& each : objects_.documents) {
      const auto kind = crds::kind_named(text(each.root, {"kind"}));
      if (kind && namespace_of(each.root) == ns) out.push_back(neighbour_of(*kind, each.root));
    }
    return true;
  }

  /// Not one more than is wanted, so that a rule that asks for too little is found out.
  bool wanted_neighbours(std::string_view ns, const NeighbourFilter& wanted, std::vector<Neighbour>& out) override {
    std::vector<Neighbour> all;
    if (!neighbours(ns, all)) return false;
    for (Neighbour& each : all) {
      const bool shares_name = wanted.has_name(each.name) || std::ranges::any_of(each.children, [&](const auto& child) {
                                 return wanted.has_name(child.second);
                               });
      const bool uses = wanted.users_of && each.kind == crds::Kind::inference_service && each.cache == *wanted.users_of;
      if (shares_name || uses || each.kind == wanted.kind) out.push_back(std::move(each));
    }
    return true;
  }

 private:
  static const json::Value* dig(const json::Value& object, std::initializer_list<std::string_view> path) {
    const json::Value* at = &object;
    for (const std::string_view key : path) {
      at = at->find(key);
      if (at == nullptr) return nullptr;
    }
    return at;
  }
  static std::string_view text(const json::Value& object, std::initializer_list<std::string_view> path) {
    const json::Value* at = dig(object, path);
    return at == nullptr ? std::string_view{} : at->string();
  }
  static std::string_view namespace_of(const json::Value& object) {
    const std::string_view written = text(object, {"metadata", "namespace"});
    return written.empty() ? "default" : written;
  }
  static ReferencedObject describe(const json::Value& object) {
    ReferencedObject out;
    if (text(object, {"metadata", "annotations", "test/presence"}) == "unknown") return out;
    out.presence = Presence::present;
    for (const std::string_view field : {"data", "stringData", "binaryData"})
      if (const json::Value* data = object.find(field))
        for (const json::Member& member : data->members()) out.keys.emplace_back(member.key);
    out.type = text(object, {"type"});
    out.state = text(object, {"status", "state"});
    if (const json::Value* modes = dig(object, {"spec", "accessModes"}))
      for (const json::Value& mode : modes->items()) out.access_modes.emplace_back(mode.string());
    out.size = text(object, {"spec", "resources", "requests", "storage"});
    out.storage_class = storage_class_of(object);
    if (const json::Value* allows = object.find("allowVolumeExpansion")) out.allows_expansion = allows->boolean();
    if (const json::Value* profiles = dig(object, {"status", "profiles"}))
      for (const json::Value& profile : profiles->items()) out.profiles.emplace_back(text(profile, {"name"}));
    return out;
  }

  std::string text_;
  yaml::Stream objects_;
};

}  // namespace stackgate::validate::tests
