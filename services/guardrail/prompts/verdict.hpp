// Yes or no, safe or unsafe: what the answer of a check says. What says neither, or both, says nothing. Pure.
#pragma once
#include <string_view>

#include "services/guardrail/prompts/task.hpp"

namespace stackgate::guardrail {

bool is_verdict_parser(std::string_view parser);
/// `parser` is one of those. `yes_is_safe`: the check asked whether all is well, not whether to block.
Parsed verdict(std::string_view parser, std::string_view answer, bool yes_is_safe);

}  // namespace stackgate::guardrail
