// Why something does not run, and where the objects of Kubernetes report it. Pure and thread-safe.
#pragma once
#include <string>
#include <string_view>

#include "services/kit/json/read.hpp"

namespace stackgate::pods {

/// Why something does not run: `reason` is one CamelCase word for machines, `message` a sentence that a user can act
/// on.
struct Problem {
  std::string reason = {};
  std::string message = {};
  /// Waiting does not cure it: somebody has to change something.
  bool lasting = false;
  friend bool operator==(const Problem&, const Problem&) = default;
};

/// The entry of a status' conditions with that type, or nullptr.
inline const json::Value* condition_in(const json::Value* status, std::string_view type) {
  for (const json::Value& each : json::items(status, {"conditions"}))
    if (json::text(&each, {"type"}) == type) return &each;
  return nullptr;
}
/// That of an object's status.
inline const json::Value* condition_of(const json::Value* object, std::string_view type) {
  return condition_in(json::at(object, {"status"}), type);
}

}  // namespace stackgate::pods
