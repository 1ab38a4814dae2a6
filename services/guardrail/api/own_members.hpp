// The guardrail's own members of a body, at its top or inside of `guardrails`. Pure.
#pragma once
#include <string>
#include <vector>

#include "services/guardrail/api/request.hpp"

namespace stackgate::guardrail {

void read_own_members(Fields& body, validate::Findings& findings, ChatRequest& out);

/// rail_types of a check: "input", "output", "tool_call", "tool_result".
std::vector<std::string> read_rail_types(const json::Value& body, validate::Findings& findings);

}  // namespace stackgate::guardrail
