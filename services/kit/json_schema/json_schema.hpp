// JSON Schema draft 4 and 7 (json-schema.org), for bodies of HTTP requests and as a second opinion on schema::check.
//
// json_schema.cpp is the only file of the project that includes valijson.
#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/json/value.hpp"
#include "services/kit/schema/check.hpp"

namespace stackgate::validate {

enum class Draft : std::uint8_t { v4, v7 };
inline constexpr std::size_t default_longest_string = 4096;

/// Immutable; may be used from many threads at once (each keeps its own matcher of patterns). About 25 times slower
/// than schema::check: for bodies, not for the admission path.
class JsonSchema {
 public:
  /// The error says what is wrong with the schema. References to other documents are refused.
  static std::expected<JsonSchema, std::string> compile(std::string_view schema_text, Draft draft);

  JsonSchema(JsonSchema&&) noexcept;
  JsonSchema& operator=(JsonSchema&&) noexcept;
  ~JsonSchema();

  /// One fault per broken keyword, where it is broken; parents do not repeat it. In document order. At most
  /// `max_faults`. Patterns are matched by std::regex, whose depth grows with the text: a string of more than
  /// `longest_string` bytes is refused as too long before it comes to that. More than the default is for schemas
  /// without patterns.
  std::vector<schema::SchemaFault> check(const json::Value& value, std::size_t max_faults = 100,
                                         std::size_t longest_string = default_longest_string) const;

 private:
  struct Compiled;
  explicit JsonSchema(std::shared_ptr<const Compiled> compiled);
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace stackgate::validate
