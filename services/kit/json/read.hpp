// Reading trees that nobody has checked: what is absent or of another type reads as nothing. `from` may be nullptr.
//   json::text(&object, {"metadata", "name"})
// Pure and thread-safe.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "services/kit/json/value.hpp"

namespace stackgate::json {

using MemberPath = std::initializer_list<std::string_view>;

/// The value at a path of member names, or nullptr.
inline const Value* at(const Value* from, MemberPath path) {
  for (const std::string_view key : path) {
    if (from == nullptr) return nullptr;
    from = from->find(key);
  }
  return from;
}
inline Value value_at(const Value* from, MemberPath path) {
  const Value* found = at(from, path);
  return found == nullptr ? Value{} : *found;
}
inline std::string_view text(const Value* from, MemberPath path) { return value_at(from, path).string(); }
inline bool flag(const Value* from, MemberPath path) { return value_at(from, path).boolean(); }
inline std::span<const Value> items(const Value* from, MemberPath path) { return value_at(from, path).items(); }
inline std::span<const Member> members(const Value* from, MemberPath path) { return value_at(from, path).members(); }
inline std::int64_t integer(const Value* from, MemberPath path, std::int64_t otherwise = 0) {
  const Value found = value_at(from, path);
  return found.is_integer() ? found.integer() : otherwise;
}

/// A string, or a whole number in digits, as quantities are written; empty for all else.
inline std::string scalar_text(const Value& value) {
  return value.is_integer() ? std::to_string(value.integer()) : std::string(value.string());
}

}  // namespace stackgate::json
