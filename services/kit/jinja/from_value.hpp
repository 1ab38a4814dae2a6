// JSON that the project's own parser read, as values of templates.
#pragma once
#include <expected>

#include "services/kit/jinja/template.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::jinja {

/// A fault for what is nested more than `depth` times. Copies: `json` may be freed afterwards. Integers beyond 64 bits
/// are floats, as in that parser.
std::expected<Value, Fault> from_json(const json::Value& json, std::uint32_t depth = Limits{}.value_depth);

}  // namespace stackgate::jinja
