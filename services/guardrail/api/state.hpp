// What a turn leaves for the next one, as JSON: `state` of requests and answers, and what memory/ keeps. Pure.
//
// A client may hold it and send it back, so it is checked like any input: version, types, sizes. What it can do is what
// `context` can: set variables, and let a flow go on that waits for the user; a flow that does not exist is forgotten.
#pragma once
#include <expected>
#include <string>
#include <string_view>

#include "services/guardrail/dialog/turn.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::guardrail {

std::string to_json(const DialogState& state);

/// The problem, as a predicate of "state": "has no version". An empty object is a new conversation.
std::expected<DialogState, std::string> read_state(const json::Value& state);
std::expected<DialogState, std::string> read_state(std::string_view json);

}  // namespace stackgate::guardrail
