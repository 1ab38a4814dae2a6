// JSON Schema to a grammar whose texts all parse and validate. What a grammar cannot promise is refused, by its place.
// Source: JSON Schema draft 7 (json-schema.org/draft-07), and `$defs` of 2020-12.
#pragma once
#include <expected>
#include <memory>
#include <string_view>

#include "services/inference/constrain/grammar.hpp"
#include "services/kit/findings/finding.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::inference {

/// Any JSON object: response_format json_object. Names in one object may repeat, which JSON allows.
std::shared_ptr<const Grammar> json_object_grammar();

/// `path`: where the schema stands in the body, for findings. Pure; bounded by 5,000 parts and 200,000 nodes; look-ups
/// are linear in the schema's members, so the text should be bounded too (api: `largest_schema`).
std::expected<std::shared_ptr<const Grammar>, validate::Findings> compile_schema(const json::Value& schema,
                                                                                 std::string_view path);

}  // namespace stackgate::inference
