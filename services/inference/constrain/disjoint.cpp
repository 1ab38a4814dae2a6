#include "services/inference/constrain/disjoint.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "services/kit/base/number.hpp"

namespace stackgate::inference {
namespace {

using json::Value;

std::string unescaped(std::string_view part) {
  std::string out;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const bool pair = part[i] == '~' && i + 1 < part.size();
    if (!pair) {
      out += part[i];
      continue;
    }
    out += part[++i] == '1' ? '/' : '~';
  }
  return out;
}

/// What a schema names one by one; nothing when it does not.
std::optional<std::span<const Value>> constants(const Value* schema) {
  if (schema == nullptr) return std::nullopt;
  if (const Value* one = schema->find("const")) return std::span(one, 1);
  if (const Value* list = schema->find("enum"); list != nullptr && list->is_array()) return list->items();
  return std::nullopt;
}

bool share_a_constant(std::span<const Value> a, std::span<const Value> b) {
  return std::ranges::any_of(a, [b](const Value& each) {
    return std::ranges::any_of(b, [&each](const Value& other) { return json::equal(each, other); });
  });
}

/// "integer" counts as "number". Empty: not known.
std::vector<std::string_view> types_of(const Value& schema) {
  std::vector<std::string_view> out;
  const auto add = [&out](std::string_view type) { out.push_back(type == "integer" ? "number" : type); };
  if (const auto values = constants(&schema)) {
    for (const Value& each : *values) add(json::to_string(each.type()));
  } else if (const Value* type = schema.find("type")) {
    if (type->is_string()) add(type->string());
    for (const Value& each : type->items()) add(each.string());
  }
  return out;
}

bool requires_member(const Value& schema, std::string_view key) {
  const Value* list = schema.find("required");
  return list != nullptr &&
         std::ranges::any_of(list->items(), [key](const Value& each) { return each.string() == key; });
}

/// A member that both must have, with other constants.
bool differ_in_a_member(const Value& root, const Value& one, const Value& other) {
  const Value* mine = one.find("properties");
  const Value* theirs = other.find("properties");
  if (mine == nullptr || theirs == nullptr) return false;
  return std::ranges::any_of(mine->members(), [&](const json::Member& member) {
    const Value* twin = theirs->find(member.key);
    if (twin == nullptr || !requires_member(one, member.key) || !requires_member(other, member.key)) return false;
    const auto a = constants(followed(root, member.value)), b = constants(followed(root, *twin));
    return a && b && !share_a_constant(*a, *b);
  });
}

}  // namespace

const Value* resolved(const Value& root, std::string_view reference) {
  if (!reference.starts_with('#')) return nullptr;
  reference.remove_prefix(1);
  const Value* at = &root;
  while (at != nullptr && !reference.empty()) {
    if (reference[0] != '/') return nullptr;
    const std::size_t end = std::min(reference.find('/', 1), reference.size());
    const std::string part = unescaped(reference.substr(1, end - 1));
    reference.remove_prefix(end);
    if (at->is_array()) {
      const auto index = to_number<std::size_t>(part);
      at = index && *index < at->items().size() ? &at->items()[*index] : nullptr;
    } else {
      at = at->find(part);
    }
  }
  return at;
}

const Value* followed(const Value& root, const Value& schema) {
  constexpr int most = 32;
  const Value* at = &schema;
  for (int i = 0; i < most && at != nullptr; ++i) {
    const Value* reference = at->find("$ref");
    if (reference == nullptr) return at;
    at = resolved(root, reference->string());
  }
  return nullptr;
}

bool disjoint(const Value& root, const Value& one, const Value& other) {
  const Value* a = followed(root, one);
  const Value* b = followed(root, other);
  if (a == nullptr || b == nullptr) return false;
  const auto mine = constants(a), theirs = constants(b);
  if (mine && theirs) return !share_a_constant(*mine, *theirs);
  const auto types = types_of(*a), other_types = types_of(*b);
  if (types.empty() || other_types.empty()) return false;
  const bool apart = std::ranges::none_of(
      types, [&](std::string_view type) { return std::ranges::find(other_types, type) != other_types.end(); });
  return apart ||
         (types.size() == 1 && other_types.size() == 1 && types[0] == "object" && differ_in_a_member(root, *a, *b));
}

}  // namespace stackgate::inference
