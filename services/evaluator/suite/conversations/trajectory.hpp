// What an agent did, read: messages of a conversation with calls of tools. Pure.
//
//   {"user_input": [{"type": "human", "content"}, {"type": "ai", "content", "tool_calls": [{"name", "args"}]}, {"type":
//   "tool", "content"}]}, as ragas has it, or {"messages": [{"role", "content", "tool_calls": [{"function"}]}]}
#pragma once
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "services/kit/json/value.hpp"

namespace stackgate::evaluator {

struct Trajectory {
  std::string transcript{};          // for a judge: "User: …", "Assistant: …", "Assistant calls f({…})", "Tool: …"
  std::vector<json::Value> calls{};  // of all messages, in order; they belong to the row's document
};
std::expected<Trajectory, std::string> read_trajectory(const json::Value& row);

/// ragas' tool_call_accuracy in strict order: 0 unless the same functions are called one after the other; else the mean
/// over the calls of how many of the expected arguments have the expected value. 1 where no call is expected and none
/// is made.
/// Source: https://docs.ragas.io/en/v0.3.5/concepts/metrics/available_metrics/agents/
double tool_call_accuracy(std::span<const json::Value> calls, std::span<const json::Value> expected);

}  // namespace stackgate::evaluator
