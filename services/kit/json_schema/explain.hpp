// What a JSON Schema asks for where a body breaks it, in the words that the gate has for the same faults. Pure.
#pragma once
#include <cstdint>
#include <string_view>

#include <nlohmann/json.hpp>

#include "services/kit/schema/check.hpp"

namespace stackgate::validate::json_schema {

/// The schema of a member or an item of what `node` describes; null where the schema says nothing of it or leaves it
/// open which of several forms holds. `node` may be null. Both live as long as `root`.
const nlohmann::json* schema_of_member(const nlohmann::json& root, const nlohmann::json* node, std::string_view key);
const nlohmann::json* schema_of_item(const nlohmann::json& root, const nlohmann::json* node, std::size_t index);

/// Whether an object that `node` describes may have a member of this name.
bool allows_member(const nlohmann::json& root, const nlohmann::json* node, std::string_view key);

/// Fills in problem and fix, where `node` says more than the fault does. `node`: of fault.value; of the object, where
/// the fault is a missing or an unknown field, which is `name`.
void explain(schema::SchemaFault& fault, const nlohmann::json& root, const nlohmann::json* node, std::string_view name);

}  // namespace stackgate::validate::json_schema
