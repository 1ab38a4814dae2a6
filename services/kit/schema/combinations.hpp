// anyOf, oneOf, allOf and not.
#pragma once
#include "services/kit/schema/walker.hpp"

namespace stackgate::validate::schema {

void walk_combinations(Walker& walker, const Node& node, const Node* base, const json::Value& value, const Path* at);

}  // namespace stackgate::validate::schema
