// What templates compute with: Python's values as far as templates can make them. Values are immutable but for
// namespaces, cyclers and loops, and share their parts: a copy costs a reference count.
//
// A const Value may be read by any number of threads.
#pragma once
#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace stackgate::jinja {

class Value;
class Object;  // object.hpp: macros, functions, methods, namespaces, loops
struct List;
struct Dict;

/// UTF-8; positions and lengths in templates count code points. A byte that is no UTF-8 counts as one.
class Text {
 public:
  explicit Text(std::string content) : bytes(std::move(content)) {}
  /// In code points; counted when first asked for.
  std::size_t length() const;
  bool is_ascii() const { return length() == bytes.size(); }

  const std::string bytes;

 private:
  static constexpr std::size_t unknown = SIZE_MAX;
  mutable std::atomic<std::size_t> length_{unknown};
};

using TextPtr = std::shared_ptr<const Text>;
using ListPtr = std::shared_ptr<const List>;
using DictPtr = std::shared_ptr<const Dict>;
using ObjectPtr = std::shared_ptr<Object>;

/// `what` says what there is not ("'x' is undefined"), or is nullptr.
struct Undefined {
  TextPtr what;
};
struct None {};

class Value {
 public:
  Value() = default;
  Value(Undefined undefined) : held_(std::move(undefined)) {}
  Value(None none) : held_(none) {}
  template <std::same_as<bool> Bool>
  Value(Bool value) : held_(value) {}
  Value(std::int64_t value) : held_(value) {}
  Value(double value) : held_(value) {}
  Value(std::string text) : held_(std::make_shared<const Text>(std::move(text))) {}
  Value(std::string_view text) : Value(std::string(text)) {}
  Value(const char* text) : Value(std::string(text)) {}
  Value(TextPtr text) : held_(std::move(text)) {}
  Value(ListPtr list) : held_(std::move(list)) {}
  Value(DictPtr dict) : held_(std::move(dict)) {}
  Value(ObjectPtr object) : held_(std::move(object)) {}

  bool is_undefined() const { return std::holds_alternative<Undefined>(held_); }
  bool is_none() const { return std::holds_alternative<None>(held_); }
  const Undefined* undefined() const { return std::get_if<Undefined>(&held_); }
  const bool* boolean() const { return std::get_if<bool>(&held_); }
  const double* real() const { return std::get_if<double>(&held_); }
  const TextPtr* text() const { return std::get_if<TextPtr>(&held_); }
  const ListPtr* list() const { return std::get_if<ListPtr>(&held_); }
  const DictPtr* dict() const { return std::get_if<DictPtr>(&held_); }
  const ObjectPtr* object() const { return std::get_if<ObjectPtr>(&held_); }
  /// An integer and no boolean.
  const std::int64_t* integer() const { return std::get_if<std::int64_t>(&held_); }
  /// The text's bytes; empty for other values.
  std::string_view bytes() const { return text() == nullptr ? std::string_view() : std::string_view((*text())->bytes); }

  /// Python's bool(value).
  bool truth() const;
  /// Python's name of the type: "str", "dict", "NoneType".
  std::string_view type_name() const;
  /// How many containers are inside each other: 0 for a text, 1 for an empty list.
  std::uint32_t depth() const;
  /// What it costs to walk all of it, shared parts counted each time; saturates.
  std::uint64_t weight() const;

 private:
  std::variant<Undefined, None, bool, std::int64_t, double, TextPtr, ListPtr, DictPtr, ObjectPtr> held_;
};

/// Python's kinds of sequences. Iterators can be walked more than once here; they have neither length nor index.
enum class Form : std::uint8_t { list, tuple, range, iterator, keys, values, items };

struct List {
  explicit List(std::vector<Value> values, Form kind = Form::list);
  std::vector<Value> items;
  Form form;
  std::uint32_t depth = 1;
  std::uint64_t weight = 1;
};

/// In the order of insertion; keys are unique and hashable.
struct Dict {
  using Item = std::pair<Value, Value>;
  /// nullptr: there is no such text among the keys.
  const Value* find(std::string_view key) const;
  const Value* find(const Value& key) const;
  /// Replaces the value of a key that is there, in its place.
  void set(Value key, Value value);

  std::vector<Item> items;
  std::uint32_t depth = 1;
  std::uint64_t weight = 1;

 private:
  std::size_t position(std::string_view key) const;
  std::size_t position(const Value& key) const;
  static constexpr std::size_t indexed_from = 12;
  std::unordered_map<std::string_view, std::size_t> index_;  // of keys that are texts, in large dicts
};

/// Of a call, as written: f(1, 2, name=3).
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

/// Python's ==. Costs up to the smaller weight.
bool equal(const Value& a, const Value& b);

}  // namespace stackgate::jinja
