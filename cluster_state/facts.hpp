// What is kept of the objects that resources refer to. Secret values end here: only the names of keys go on.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "crds/kinds.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/kube/resource.hpp"
#include "validators/lookup.hpp"

namespace stackgate::cluster {

/// The API's type of a reference_kind.
kube::ResourceType resource_type(validate::ReferenceKind reference_kind);
/// Of one of our kinds.
kube::ResourceType resource_type(crds::Kind kind);

/// Of an object that exists. Pure.
validate::ReferencedObject referred_of(validate::ReferenceKind reference_kind, const json::Value& object);

/// All of a ConfigMap's keys; what is no base64 among its binaryData is empty. Pure.
std::vector<validate::ConfigMapEntry> contents_of(const json::Value& config_map);

/// A neighbour's children, with the neighbour's own name written as "".
using Children = std::vector<std::pair<std::string, std::string>>;

using Text = std::shared_ptr<const std::string>;

/// One of our resources as a reconciler needs it.
struct StoredResource {
  std::string uid;
  std::uint64_t version = 0;
  std::int64_t generation = 0;
  std::string state;  // status.state, empty when there is no status
  Text json;          // see pruned_json()
};
StoredResource stored_resource(const json::Value& object);

/// One of our resources in the watch cache.
struct Kept {
  std::string image_tag;
  std::string cache;
  std::string owner;  // the InferencePipeline that made it, or empty
  std::shared_ptr<const Children> children;
  std::shared_ptr<const validate::ReferencedObject> referred;  // InferenceCache only
  std::shared_ptr<const StoredResource> stored = {};           // with State::Contents
};

/// Equal facts are stored once: thousands of Secrets have the same few sets of keys. Thread-safe.
class FactStore {
 public:
  std::shared_ptr<const validate::ReferencedObject> intern(validate::ReferencedObject referred);
  std::shared_ptr<const Children> intern(Children children);
  Kept keep(crds::Kind kind, const json::Value& object);

 private:
  template <class T>
  using Table = std::unordered_map<std::string, std::weak_ptr<const T>>;
  template <class T>
  std::shared_ptr<const T> intern(Table<T>& table, std::string key, T value);

  std::mutex mutex_;
  Table<validate::ReferencedObject> referred_;
  Table<Children> children_;
};

validate::Neighbour neighbour_of(crds::Kind kind, std::string_view name, const Kept& kept);
/// Without making the neighbour: a review looks at every resource of its namespace, and mostly none matters.
bool is_wanted(const validate::NeighbourFilter& wanted, crds::Kind kind, std::string_view name, const Kept& kept);

}  // namespace stackgate::cluster
