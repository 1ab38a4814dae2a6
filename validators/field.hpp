// How rules read an object: a place in it, with its path, its schema and its schema's default.
//
//   Field probe = spec["startupProbe"]["probe"];
//   if (auto period = probe["periodSeconds"].integer()) …      // the schema's default when it is not written
//
// A Field is small and copied freely. It stays valid as long as its Walk and the object do. Reading a field that is
// absent, null or of another type gives nothing (the schema check has already said so): a rule never repeats it.
#pragma once
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>

#include "services/kit/findings/path.hpp"
#include "services/kit/json/document.hpp"
#include "services/kit/schema/schema.hpp"

namespace stackgate::validate {

/// Owns the path links of one review. Not thread-safe.
struct Walk {
  json::Arena arena;
};

class Field {
 public:
  /// The object itself. `node` may be nullptr (no defaults then).
  static Field root(Walk& walk, const json::Value& object, const schema::Node* node);

  /// `key` is a literal or a key of the document: it must live as long as the result.
  Field operator[](std::string_view key) const;
  Field operator[](const char* key) const { return (*this)[std::string_view(key)]; }
  Field at(std::size_t index) const;

  /// Written in the document, and not as null.
  bool present() const { return value_ != nullptr && !value_->is_null(); }
  explicit operator bool() const { return present(); }
  bool absent() const { return !present(); }

  /// The typed value, or the schema's default for an absent one, or nothing.
  std::optional<std::string_view> text() const;
  std::optional<std::int64_t> integer() const;
  std::optional<bool> flag() const;

  /// Whether a member of this object is not known and reads like `name`: the schema check asks "did you mean" there,
  /// so that nobody need say that `name` is missing.
  bool has_misspelt(std::string_view name) const;

  std::size_t size() const;  // items of a list, members of a map
  auto items() const {
    return std::views::iota(std::size_t{0}, list_size()) |
           std::views::transform([self = *this](std::size_t i) { return self.at(i); });
  }
  /// The members of a map or an object, each with its key().
  auto entries() const {
    return std::views::iota(std::size_t{0}, map_size()) |
           std::views::transform([self = *this](std::size_t i) { return self.entry(i); });
  }
  /// The last link of its path; empty for an item of a list and for the object itself.
  std::string_view key() const { return key_; }

  const json::Value* value() const { return value_; }  // nullptr when not written
  const json::Value* effective() const;                // or the schema's default
  const schema::Node* node() const;                    // nullptr where the schema says nothing
  const Path* path() const;
  /// Its own place, or that of the nearest written parent.
  std::uint32_t offset() const { return offset_; }

 private:
  Field(Walk& walk, const json::Value* value, const Field* parent, std::string_view key, std::int64_t index,
        std::uint32_t offset);
  Field entry(std::size_t index) const;
  std::size_t list_size() const;
  std::size_t map_size() const;

  // Most fields are read and never reported, and hold a value: their link in the path and their schema are found only
  // when somebody asks. Until then path_ and node_ are the parent's.
  Walk* walk_;
  const json::Value* value_;
  mutable const schema::Node* node_ = nullptr;
  mutable const Path* path_ = nullptr;
  std::string_view key_;
  std::int64_t index_;
  std::uint32_t offset_;
  mutable bool own_node_ = false;
  mutable bool own_path_ = false;
};

}  // namespace stackgate::validate
