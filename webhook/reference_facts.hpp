// What is kept of the objects that resources refer to. Secret values end here: only the names of keys go on.
#pragma once
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

namespace stackgate::webhook {

/// The API's type of a referent.
kube::ResourceType resource_type(validate::Referent referent);
/// Of one of our kinds.
kube::ResourceType resource_type(crds::Kind kind);

/// Of an object that exists. Pure.
validate::Referred referred_of(validate::Referent referent, const json::Value& object);

/// A neighbour's children, with the neighbour's own name written as "".
using Children = std::vector<std::pair<std::string, std::string>>;

/// One of our resources in the watch cache.
struct Kept {
  std::string image_tag;
  std::string cache;
  std::string owner;  // the InferencePipeline that made it, or empty
  std::shared_ptr<const Children> children;
  std::shared_ptr<const validate::Referred> referred;  // InferenceCache only
};

/// Equal facts are stored once: thousands of Secrets have the same few sets of keys. Thread-safe.
class FactStore {
 public:
  std::shared_ptr<const validate::Referred> intern(validate::Referred referred);
  std::shared_ptr<const Children> intern(Children children);
  Kept keep(crds::Kind kind, const json::Value& object);

 private:
  template <class T>
  using Table = std::unordered_map<std::string, std::weak_ptr<const T>>;
  template <class T>
  std::shared_ptr<const T> intern(Table<T>& table, std::string key, T value);

  std::mutex mutex_;
  Table<validate::Referred> referred_;
  Table<Children> children_;
};

validate::Neighbour neighbour_of(crds::Kind kind, std::string_view name, const Kept& kept);
/// Without making the neighbour: a review looks at every resource of its namespace, and mostly none matters.
bool is_wanted(const validate::Wanted& wanted, crds::Kind kind, std::string_view name, const Kept& kept);

}  // namespace stackgate::webhook
