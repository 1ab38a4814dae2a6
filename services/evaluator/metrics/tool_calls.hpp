// Calls of functions against those that were expected. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/json/value.hpp"

namespace stackgate::evaluator {

/// NeMo's: the names alone, and names with arguments. Each call of one side has one of the other, in any order.
struct CallAccuracy {
  bool names = false, names_and_arguments = false;
};

/// Both are lists of {"function":{"name","arguments"}} (OpenAI's tool_calls) or {"name","arguments"}; arguments are an
/// object or its JSON text. What is none of it matches nothing.
CallAccuracy call_accuracy(const json::Value& calls, const json::Value& expected);

/// BFCL's match of syntax trees. `expected`: a list of {<function>: {<parameter>: [<each value that is right>]}}, where
/// "" among the values means that the parameter may be left out; `functions`: their descriptions, with the JSON Schema
/// of their parameters. "" when every expected call is there, in any order, and no other; else what is wrong.
std::string match_calls(const json::Value& calls, const json::Value& expected, const json::Value& functions);

}  // namespace stackgate::evaluator
