// Walks an object against a compiled schema and reports every fault once, where it is deepest.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/findings/path.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/schema/schema.hpp"

namespace stackgate::validate::schema {

/// Which keyword was broken; each is a rule of the book (rule id in brackets).
enum class Fault : std::uint8_t {
  type,         // [schema-type]
  null_value,   // [schema-null]          null where nullable is not set
  required,     // [schema-required]
  unknown,      // [schema-unknown-field]
  enumeration,  // [schema-enum]
  range,        // [schema-range]         minimum, maximum, multipleOf
  length,       // [schema-length]        of strings, lists, maps
  pattern,      // [schema-pattern]
  format,       // [schema-format]
  duplicate,    // [schema-duplicate]     list-type set or map, uniqueItems
  combination,  // [schema-type]          anyOf, oneOf, allOf, not
};

struct SchemaFault {
  Fault fault;
  std::string path;
  std::uint32_t offset = 0;
  const json::Value* value = nullptr;  // nullptr for a missing field
  std::string problem;                 // empty, as fix is, where a mismatch was left unexplained
  std::string fix;
  const Pattern* pattern = nullptr;  // of Fault::pattern: the one that the value does not match
};

struct CheckOptions {
  bool unknown_fields = true;      // report them (off: as the API server prunes)
  bool explain_mismatches = true;  // off: the caller calls explain_mismatch for those that it keeps
  std::size_t max_faults = 100;
};

/// Faults in document order. `at` is the path of `value` (the empty path for a whole object).
std::vector<SchemaFault> check(const Node& node, const json::Value& value, const Path* at = nullptr,
                               const CheckOptions& options = {});

/// Whether `object` has an unknown member whose nearest known name is `name`: then "unknown field, did you mean …"
/// says already what is missing. Looks at the first 64 members only.
bool is_misspelt(const Node& node, const json::Value& object, std::string_view name);

}  // namespace stackgate::validate::schema
