// Whether no value fits two schemas at once, as far as their types and constants tell: what oneOf needs. Pure.
#pragma once
#include <string_view>

#include "services/kit/json/value.hpp"

namespace stackgate::inference {

/// What "#/$defs/x" of this document names, or nullptr.
const json::Value* resolved(const json::Value& root, std::string_view reference);

/// The schema behind any number of $ref; nullptr when they lead nowhere, or in a ring.
const json::Value* followed(const json::Value& root, const json::Value& schema);

/// False also when it is not known.
bool disjoint(const json::Value& root, const json::Value& one, const json::Value& other);

}  // namespace stackgate::inference
