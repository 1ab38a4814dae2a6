// A row about calls of functions, read: BFCL's, or messages with tools and tool_calls as NeMo's evaluator has them.
// Pure.
//
//   BFCL:  {"id", "question": [[{"role", "content"}]], "function": [{"name", "parameters"}], "ground_truth": [{…}]}
//   NeMo:  {"messages": [{"role", "content"}], "tools": [{"type": "function", …}], "tool_calls": [{"function": {…}}]}
#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/endpoint/protocol/question.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::evaluator {

/// "BFCL_v3_live_simple": version "v3", category "live_simple". Other names are a category.
struct CallFile {
  std::string_view version{}, category{};
};
CallFile call_file(std::string_view stem);

struct CallRow {
  enum class Expects : std::uint8_t {
    syntax,   // BFCL's ground_truth
    calls,    // tool_calls
    none,     // irrelevance: no call at all
    any,      // relevance: some call, whichever
    unknown,  // nothing is said: its answer should have been in a file of its own
  };
  Expects expects = Expects::syntax;
  std::vector<ChatMessage> messages{};
  json::Value functions{};  // an array
  json::Value expected{};   // an array, for `syntax` and `calls`
};

/// What is asked and expected. The values belong to the row's document. The error is a sentence about the row.
std::expected<CallRow, std::string> read_call_row(const json::Value& row, std::string_view category);

}  // namespace stackgate::evaluator
