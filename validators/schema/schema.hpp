// A Kubernetes structural schema, compiled once and walked for each object.
//
// Source of the semantics: apiextensions.k8s.io/v1 JSONSchemaProps. compile() refuses a schema that uses anything the
// walker would not enforce. A compiled Schema is immutable and thread-safe.
#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/json/document.hpp"

namespace stackgate::validate::schema {

struct Pattern;  // a compiled RE2, with its source

enum class Format : std::uint8_t { none, int32, int64, date_time, duration, uri, byte, other };
enum class ListType : std::uint8_t { atomic, set, map };

struct Node;

struct Property {
  std::string_view name;
  const Node* node = nullptr;
  bool required = false;
};

/// One place in the schema. Plain data: the rules read defaults and descriptions here too.
struct Node {
  std::optional<json::Type> type;  // none: int-or-string or anything
  bool nullable = false;
  bool int_or_string = false;
  bool preserve_unknown = false;
  bool embedded_resource = false;
  Format format = Format::none;
  ListType list_type = ListType::atomic;

  std::vector<Property> properties;          // sorted by name
  std::vector<std::string_view> required;    // in the schema's order
  const Node* additional = nullptr;          // additionalProperties
  const Node* items = nullptr;
  std::vector<std::string_view> list_keys;   // x-kubernetes-list-map-keys

  std::vector<json::Value> enumeration;
  std::optional<double> minimum, maximum;
  bool exclusive_minimum = false, exclusive_maximum = false;
  std::optional<double> multiple_of;
  std::optional<std::uint64_t> min_length, max_length, min_items, max_items, min_properties, max_properties;
  bool unique_items = false;
  std::shared_ptr<const Pattern> pattern;

  std::vector<const Node*> all_of, any_of, one_of;
  const Node* not_ = nullptr;

  const json::Value* default_value = nullptr;
  std::string_view description;

  const Node* property(std::string_view name) const;
};

class Schema {
 public:
  /// `open_api_v3_schema` is the JSON object under `spec.versions[].schema.openAPIV3Schema`; it and its text must
  /// outlive the Schema. The error names the place and the unsupported or wrong keyword.
  static std::expected<Schema, std::string> compile(const json::Value& open_api_v3_schema);

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
