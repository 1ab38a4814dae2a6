// A parsed JSON or YAML document as a read-only tree.
//
// Every node knows the byte offset of its source text, so that a fault can be shown where it stands. A Document owns
// all nodes and strings in one arena: copying a Value copies a reference, and a Value must not outlive its Document
// (nor the source text that the Document was parsed from: strings without escapes are views into it).
// Reading is thread-safe; building is not.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace stackgate::json {

enum class Type : std::uint8_t { null, boolean, integer, number, string, array, object };

/// The word a user knows a type by: "null", "boolean", "integer", "number", "string", "array", "object".
std::string_view to_string(Type type);

struct Member;

class Value {
 public:
  Value() = default;  // null at offset 0
  static Value make_null(std::uint32_t offset);
  static Value make_boolean(bool value, std::uint32_t offset);
  static Value make_integer(std::int64_t value, std::uint32_t offset);
  static Value make_number(double value, std::uint32_t offset);
  /// `text`, `items` and `members` must live as long as the value: take them from an Arena.
  static Value make_string(std::string_view text, std::uint32_t offset);
  static Value make_array(std::span<const Value> items, std::uint32_t offset);
  static Value make_object(std::span<const Member> members, std::uint32_t offset);

  Type type() const { return type_; }
  bool is_null() const { return type_ == Type::null; }
  bool is_boolean() const { return type_ == Type::boolean; }
  bool is_integer() const { return type_ == Type::integer; }
  /// A number of either kind; integers are those without fraction and exponent that fit 64 bits.
  bool is_number() const { return type_ == Type::integer || type_ == Type::number; }
  bool is_string() const { return type_ == Type::string; }
  bool is_array() const { return type_ == Type::array; }
  bool is_object() const { return type_ == Type::object; }

  /// Each reader answers false, 0 or empty for a value of another type.
  bool boolean() const { return is_boolean() && data_.boolean; }
  std::int64_t integer() const { return is_integer() ? data_.integer : 0; }
  double number() const;
  std::string_view string() const;
  std::span<const Value> items() const;
  /// In document order; keys are unique.
  std::span<const Member> members() const;

  /// The member's value, or nullptr when there is none or this is no object.
  const Value* find(std::string_view key) const;
  const Member* find_member(std::string_view key) const;

  /// Where the value begins in the source, in bytes.
  std::uint32_t offset() const { return offset_; }

 private:
  union Data {
    bool boolean;
    std::int64_t integer = 0;
    double number;
    const char* text;
    const Value* items;
    const Member* members;
  };
  Value(Data data, std::size_t size, std::uint32_t offset, Type type)
      : data_(data), size_(static_cast<std::uint32_t>(size)), offset_(offset & 0x1fff'ffffU), type_(type) {}

  Data data_;
  std::uint32_t size_ = 0;         // bytes, items or members; below 2³² because documents are below 2²⁹ bytes
  std::uint32_t offset_ : 29 = 0;  // documents are at most 512 MiB
  Type type_ : 3 = Type::null;
};
static_assert(sizeof(Value) == 16);

struct Member {
  std::string_view key;
  std::uint32_t key_offset = 0;
  Value value;
};

/// Same type and content; the order of an object's members does not matter, 1 equals 1.0.
/// O(n log n) in the number of members.
bool equal(const Value& a, const Value& b);

inline Value Value::make_null(std::uint32_t offset) { return {Data{}, 0, offset, Type::null}; }
inline Value Value::make_boolean(bool value, std::uint32_t offset) {
  return {Data{.boolean = value}, 0, offset, Type::boolean};
}
inline Value Value::make_integer(std::int64_t value, std::uint32_t offset) {
  return {Data{.integer = value}, 0, offset, Type::integer};
}
inline Value Value::make_number(double value, std::uint32_t offset) {
  return {Data{.number = value}, 0, offset, Type::number};
}
inline Value Value::make_string(std::string_view text, std::uint32_t offset) {
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): the size goes along
  return {Data{.text = text.data()}, text.size(), offset, Type::string};
}
inline Value Value::make_array(std::span<const Value> items, std::uint32_t offset) {
  return {Data{.items = items.data()}, items.size(), offset, Type::array};
}
inline Value Value::make_object(std::span<const Member> members, std::uint32_t offset) {
  return {Data{.members = members.data()}, members.size(), offset, Type::object};
}

inline double Value::number() const {
  if (type_ == Type::number) return data_.number;
  return static_cast<double>(integer());
}
inline std::string_view Value::string() const {
  return is_string() ? std::string_view(data_.text, size_) : std::string_view{};
}
inline std::span<const Value> Value::items() const {
  return is_array() ? std::span(data_.items, size_) : std::span<const Value>{};
}
inline std::span<const Member> Value::members() const {
  return is_object() ? std::span(data_.members, size_) : std::span<const Member>{};
}

// Members of an object that may be missing or of another type: then the answer is the fallback.

inline std::string_view text_at(const Value& object, std::string_view key, std::string_view fallback = {}) {
  const Value* found = object.find(key);
  return found != nullptr && found->is_string() ? found->string() : fallback;
}

inline bool flag_at(const Value& object, std::string_view key, bool fallback = false) {
  const Value* found = object.find(key);
  return found != nullptr && found->is_boolean() ? found->boolean() : fallback;
}

}  // namespace stackgate::json
