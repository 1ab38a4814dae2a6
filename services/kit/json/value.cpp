#include "services/kit/json/value.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "services/kit/json/keys.hpp"

namespace stackgate::json {

std::string_view to_string(Type type) {
  static constexpr std::array<std::string_view, 7> words = {"null",   "boolean", "integer", "number",
                                                            "string", "array",   "object"};
  return words[static_cast<std::size_t>(type)];
}

const Member* Value::find_member(std::string_view key) const {
  for (const Member& member : members())
    if (member.key == key) return &member;
  return nullptr;
}

const Value* Value::find(std::string_view key) const {
  const Member* member = find_member(key);
  return member == nullptr ? nullptr : &member->value;
}

namespace {

constexpr std::size_t few_members = 16;  // up to here looking through all is faster than sorting

bool equal_numbers(const Value& a, const Value& b) {
  if (a.is_integer() && b.is_integer()) return a.integer() == b.integer();
  if (!a.is_integer() && !b.is_integer()) return a.number() == b.number();
  const std::int64_t whole = a.is_integer() ? a.integer() : b.integer();
  const double real = a.is_integer() ? b.number() : a.number();
  // 2⁶³ itself is a double but no int64: the cast back would be undefined.
  return real >= -0x1p63 && real < 0x1p63 && static_cast<std::int64_t>(real) == whole &&
         static_cast<double>(static_cast<std::int64_t>(real)) == real;
}

bool equal_objects(std::span<const Member> a, std::span<const Member> b) {
  if (a.size() != b.size()) return false;
  std::size_t same_place = 0;
  while (same_place < a.size() && a[same_place].key == b[same_place].key) {
    if (!equal(a[same_place].value, b[same_place].value)) return false;
    ++same_place;
  }
  a = a.subspan(same_place);
  b = b.subspan(same_place);
  if (a.size() <= few_members) {
    return std::ranges::all_of(a, [&](const Member& member) {
      const auto other = std::ranges::find(b, member.key, &Member::key);
      return other != b.end() && equal(member.value, other->value);
    });
  }
  std::vector<KeyRef> left;
  std::vector<KeyRef> right;
  sort_keys(a, left);
  sort_keys(b, right);
  for (std::size_t i = 0; i < left.size(); ++i) {
    const Member& x = a[left[i].index];
    const Member& y = b[right[i].index];
    if (x.key != y.key || !equal(x.value, y.value)) return false;
  }
  return true;
}

}  // namespace

bool equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return equal_numbers(a, b);
  if (a.type() != b.type()) return false;
  switch (a.type()) {
    case Type::null:
      return true;
    case Type::boolean:
      return a.boolean() == b.boolean();
    case Type::string:
      return a.string() == b.string();
    case Type::array:
      return std::ranges::equal(a.items(), b.items(), equal);
    case Type::object:
      return equal_objects(a.members(), b.members());
    case Type::integer:
    case Type::number:
      break;
  }
  return false;
}

}  // namespace stackgate::json
