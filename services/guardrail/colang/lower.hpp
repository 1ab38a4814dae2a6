// A flow's statements as instructions.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/colang/report.hpp"
#include "services/guardrail/colang/tree.hpp"

namespace stackgate::guardrail::colang {

/// `user "text"` stands for the intent that has the text as an example: text → the intent's name.
using IntentNames = std::map<std::string, std::string, std::less<>>;

/// Calls have a name and no target yet. Labels without a place, and `break` outside of loops, are reported.
std::vector<Instruction> lower(const Flow& flow, std::vector<Statement> body, const IntentNames& intents,
                               Report& report);

}  // namespace stackgate::guardrail::colang
