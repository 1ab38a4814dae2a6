// A Kubernetes structural schema, compiled once and walked for each object.
//
// Source of the semantics: apiextensions.k8s.io/v1 JSONSchemaProps. compile() refuses a schema that uses anything the
// walker would not enforce, x-kubernetes-validations (CEL) excepted: the API server evaluates those, and the rules say
// the same. A compiled Schema is immutable and thread-safe.
#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "services/kit/findings/path.hpp"
#include "services/kit/json/document.hpp"

namespace stackgate::validate::schema {

class Pattern;  // a compiled regular expression with its source; see pattern.hpp

/// Those that the API server enforces and this checker knows; `other` is a word that the API server passes over too.
enum class Format : std::uint8_t {
  none,
  int32,
  int64,
  date_time,
  date,
  duration,
  uri,
  byte,
  ipv4,
  ipv6,
  cidr,
  uuid,
  quantity,
  short_name,
  long_name,
  other
};
enum class ListType : std::uint8_t { atomic, set, map };

struct Node;

struct Property {
  std::string_view name;
  const Node* node = nullptr;
  bool required = false;
  bool must_be_written = false;  // required, and no default stands in for it
};

/// What few places have.
struct Limits {
  std::optional<double> minimum, maximum;
  bool exclusive_minimum = false, exclusive_maximum = false;
  std::optional<double> multiple_of;
  std::optional<std::uint64_t> min_length, max_length, min_items, max_items, min_properties, max_properties;
  bool unique_items = false;
};

/// One place in the schema. Plain data that the Schema owns: the rules read defaults and descriptions here too.
struct Node {
  std::optional<json::Type> type;  // none: int-or-string or anything
  bool nullable = false;
  bool int_or_string = false;
  bool preserve_unknown = false;
  bool embedded_resource = false;  // the root is one: apiVersion, kind and metadata are known and checked
  bool value_only = false;         // inside anyOf, oneOf, allOf, not: says nothing about which fields exist
  Format format = Format::none;
  ListType list_type = ListType::atomic;

  std::span<const Property> properties;        // sorted by name
  std::span<const std::string_view> required;  // in the schema's order
  const Node* additional = nullptr;            // additionalProperties
  const Node* items = nullptr;
  std::span<const std::string_view> list_keys;  // x-kubernetes-list-map-keys

  std::span<const json::Value> enumeration;
  const Limits* limits = nullptr;
  const Pattern* pattern = nullptr;

  std::span<const Node* const> all_of, any_of, one_of;
  const Node* not_ = nullptr;

  const json::Value* default_value = nullptr;
  std::string_view description;

  const Node* property(std::string_view name) const {
    const Property* found = find(name);
    return found == nullptr ? nullptr : found->node;
  }
  const Property* find(std::string_view name) const;

  // Made by compile() for the walk.
  std::uint8_t accepts = 0;              // a bit for each json::Type
  bool combined = false;                 // any of all_of, any_of, one_of, not_
  std::uint32_t must_be_written = 0;     // how many properties are
  bool requires_unknown = false;         // `required` names something that is no property
  std::span<const std::uint16_t> slots;  // hash table over `properties`; 0 is free, else position + 1
};

/// The property at `at` below `root`, whose own path is `base`; nullptr for items, for entries of a map and for what
/// the schema does not know. `at` must lie below `base`.
const Property* property_at(const Node& root, const Path* base, const Path* at);

/// What the root of a schema describes.
enum class Root : std::uint8_t {
  resource,  // a Kubernetes object: apiVersion, kind and metadata need not be in the schema
  value,     // any JSON
};

/// The name of the grammar that a `pattern` of a schema states ("dns-label"; see pattern.hpp), or nothing.
using GrammarOf = std::string_view (*)(std::string_view pattern);

class Schema {
 public:
  /// `open_api_v3_schema` is the JSON object under `spec.versions[].schema.openAPIV3Schema`; it and its text must
  /// outlive the Schema. The error names the place and the unsupported or wrong keyword.
  static std::expected<Schema, std::string> compile(const json::Value& open_api_v3_schema, Root root = Root::resource,
                                                    GrammarOf grammar_of = nullptr);

  Schema(Schema&&) noexcept;
  Schema& operator=(Schema&&) noexcept;
  ~Schema();

  const Node& root() const;

 private:
  struct Storage;
  explicit Schema(std::unique_ptr<Storage> storage);
  std::unique_ptr<Storage> storage_;
};

}  // namespace stackgate::validate::schema
