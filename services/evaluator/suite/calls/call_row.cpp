#include "services/evaluator/suite/calls/call_row.hpp"

#include <algorithm>

#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace {

using Messages = std::expected<std::vector<ChatMessage>, std::string>;

Messages read_messages(const json::Value& list) {
  std::vector<ChatMessage> out;
  for (const json::Value& each : list.items()) {
    ChatMessage message{.role = std::string(json::text(&each, {"role"})),
                        .content = std::string(json::text(&each, {"content"})),
                        .tool_call_id = std::string(json::text(&each, {"tool_call_id"}))};
    if (const json::Value* calls = each.find("tool_calls"); calls != nullptr && !calls->items().empty())
      message.tool_calls = json::to_json(*calls);
    if (message.role.empty()) return std::unexpected("has a message without a role");
    out.push_back(std::move(message));
  }
  if (out.empty()) return std::unexpected("has no messages");
  return out;
}

/// A text, messages, or a list of turns of which each is messages.
Messages read_question(const json::Value& question) {
  if (question.is_string()) return std::vector<ChatMessage>{{"user", std::string(question.string())}};
  if (question.items().empty()) return std::unexpected("has no question");
  if (!question.items().front().is_array()) return read_messages(question);
  if (question.items().size() > 1)
    return std::unexpected("has several turns, whose functions would have to be run: only single turns are computed");
  return read_messages(question.items().front());
}

bool is_call_of_syntax(const json::Value& call) {
  return call.members().size() == 1 && call.members().front().value.is_object();
}

}  // namespace

CallFile call_file(std::string_view stem) {
  if (stem.starts_with("BFCL_v")) {
    const std::size_t end = stem.find('_', 5);
    if (end != std::string_view::npos && end + 1 < stem.size())
      return {.version = stem.substr(5, end - 5), .category = stem.substr(end + 1)};
  }
  return {.category = stem};
}

std::expected<CallRow, std::string> read_call_row(const json::Value& row, std::string_view category) {
  CallRow out;
  const json::Value* question = row.find("question");
  auto messages = question != nullptr ? read_question(*question) : read_messages(json::value_at(&row, {"messages"}));
  if (!messages) return std::unexpected(std::move(messages.error()));
  out.messages = std::move(*messages);
  const json::Value *functions = row.find("function"), *tools = row.find("tools");
  out.functions = functions != nullptr ? *functions : tools != nullptr ? *tools : json::Value();
  if (out.functions.items().empty()) return std::unexpected(R"(has no list "function" or "tools")");
  for (const json::Value& each : out.functions.items()) {
    const json::Value* inner = each.find("function");
    if (json::text(inner != nullptr ? inner : &each, {"name"}).empty())
      return std::unexpected("describes a function without a name");
  }
  const json::Value *truth = row.find("ground_truth"), *calls = row.find("tool_calls");
  if (category.contains("irrelevance")) {
    out.expects = CallRow::Expects::none;
  } else if (category.contains("relevance")) {
    out.expects = CallRow::Expects::any;
  } else if (truth != nullptr) {
    out.expected = *truth;
    if (!truth->is_array() || !std::ranges::all_of(truth->items(), is_call_of_syntax))
      return std::unexpected(R"(has a "ground_truth" that is no list of {"<function>": {"<parameter>": [<values>]}})");
  } else if (calls != nullptr) {
    out.expects = CallRow::Expects::calls;
    out.expected = *calls;
    if (!calls->is_array()) return std::unexpected(R"(has "tool_calls" that are no list)");
  } else {
    out.expects = CallRow::Expects::unknown;
  }
  return out;
}

}  // namespace stackgate::evaluator
