// Bodies of requests against a JSON Schema, with findings as the gate gives them.
#pragma once
#include <expected>
#include <string_view>

#include "services/kit/json/document.hpp"
#include "services/kit/json_schema/json_schema.hpp"
#include "services/kit/web/answer.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::web {

/// Immutable; may be used from many threads. Make one for each route, at start.
class BodySchema {
 public:
  /// `text`: JSON Schema draft 7, a string constant. Throws std::logic_error when it is no schema: a programming error.
  /// `longest_string`: of a body's texts, in bytes; beyond the default for schemas without patterns only.
  explicit BodySchema(std::string_view text, std::size_t longest_string = validate::default_longest_string);

  /// Call::json(), then the schema: 422 with every fault.
  std::expected<const json::Document*, Failure> read(Call& call) const;
  /// Empty: it fits.
  validate::Findings check(const json::Value& value) const;

 private:
  validate::JsonSchema schema_;
  std::size_t longest_string_;
};

/// 422 with these findings; the message counts them.
Failure unprocessable(validate::Findings findings);

}  // namespace stackgate::web
