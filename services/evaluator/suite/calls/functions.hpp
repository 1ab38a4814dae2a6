// Descriptions of functions as BFCL's files have them, as the tools of OpenAI's API, and calls back. Pure.
// Source: https://github.com/ShishirPatil/gorilla/tree/main/berkeley-function-call-leaderboard
#pragma once
#include <string>
#include <string_view>

#include "services/kit/json/value.hpp"

namespace stackgate::evaluator {

/// BFCL's names have dots, which OpenAI's do not: "math.hypot" is asked for as "math_hypot".
std::string tool_name(std::string_view function);

/// A JSON array of tools. Types that JSON Schema does not have become its own: dict is object, float is number, tuple
/// is array; those of Java and JavaScript likewise. What has "function" is a tool already and stays as it is.
std::string tools_of(const json::Value& functions);

/// OpenAI's calls as [{"name", "arguments"}] with the functions' own names. `calls`: a JSON array, or "".
std::string calls_of(std::string_view calls, const json::Value& functions);

}  // namespace stackgate::evaluator
