// Members of an object that may be missing or of another type: then the answer is the fallback.
#pragma once
#include <string_view>

#include "services/kit/json/value.hpp"

namespace stackgate::json {

inline std::string_view text_at(const Value& object, std::string_view key, std::string_view fallback = {}) {
  const Value* found = object.find(key);
  return found != nullptr && found->is_string() ? found->string() : fallback;
}

inline bool flag_at(const Value& object, std::string_view key, bool fallback = false) {
  const Value* found = object.find(key);
  return found != nullptr && found->is_boolean() ? found->boolean() : fallback;
}

}  // namespace stackgate::json
