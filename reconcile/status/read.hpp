// Reading objects that nobody has checked: what is absent or of another type reads as nothing.
// Pure and thread-safe.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "services/kit/json/value.hpp"

namespace stackgate::reconcile::read {

using Path = std::initializer_list<std::string_view>;

/// The value at a path of member names, or nullptr. `from` may be nullptr.
inline const json::Value* at(const json::Value* from, Path path) {
  for (const std::string_view key : path) {
    if (from == nullptr) return nullptr;
    from = from->find(key);
  }
  return from;
}
inline std::string_view text(const json::Value* from, Path path) {
  const json::Value* found = at(from, path);
  return found == nullptr ? std::string_view{} : found->string();
}
inline std::int64_t integer(const json::Value* from, Path path, std::int64_t otherwise = 0) {
  const json::Value* found = at(from, path);
  return found == nullptr || !found->is_integer() ? otherwise : found->integer();
}
inline bool flag(const json::Value* from, Path path) {
  const json::Value* found = at(from, path);
  return found != nullptr && found->boolean();
}
inline std::span<const json::Value> items(const json::Value* from, Path path) {
  const json::Value* found = at(from, path);
  return found == nullptr ? std::span<const json::Value>{} : found->items();
}
inline std::span<const json::Member> members(const json::Value* from, Path path) {
  const json::Value* found = at(from, path);
  return found == nullptr ? std::span<const json::Member>{} : found->members();
}

/// The entry of status.conditions with that type, or nullptr.
inline const json::Value* condition(const json::Value* object, std::string_view type) {
  for (const json::Value& each : items(object, {"status", "conditions"}))
    if (text(&each, {"type"}) == type) return &each;
  return nullptr;
}

}  // namespace stackgate::reconcile::read
