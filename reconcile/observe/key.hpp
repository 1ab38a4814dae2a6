// Which resource of ours: what the work queue holds and the store is indexed by.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "crds/kinds.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::reconcile {

struct Key {
  crds::Kind kind;
  std::string ns, name;
  friend bool operator==(const Key&, const Key&) = default;
};

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    const std::hash<std::string_view> hash;
    return (hash(key.ns) * 31 + hash(key.name)) * 31 + static_cast<std::size_t>(key.kind);
  }
};

/// "InferenceService ml/llm": for logs.
std::string to_string(const Key& key);

/// The resource that `object` was made for: by its controlling owner reference, else by the operator's labels (pods,
/// and claims that outlive their resource). Nothing when it is neither.
std::optional<Key> owner_of(const json::Value& object);

/// The uid of its controlling owner, or empty.
std::string_view controller_uid(const json::Value& object);

/// It carries the operator's managed-by label.
bool is_managed(const json::Value& object);

}  // namespace stackgate::reconcile
