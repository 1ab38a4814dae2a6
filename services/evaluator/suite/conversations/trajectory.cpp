#include "services/evaluator/suite/conversations/trajectory.hpp"

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace {

/// Either spelling of a call; arguments that are a text are JSON.
class OpenCall {
 public:
  explicit OpenCall(const json::Value& call) {
    const json::Value* function = call.find("function");
    if (function == nullptr) function = &call;
    name_ = json::text(function, {"name"});
    const json::Value* found = function->find("arguments");
    if (found == nullptr) found = function->find("args");
    if (found != nullptr) arguments_ = *found;
    if (!arguments_.is_string()) return;
    const auto parsed = json::parse(arguments_.string(), document_, {.max_depth = 64});
    arguments_ = parsed ? *parsed : json::Value();
  }
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;
  std::string_view name() const { return name_; }
  const json::Value& arguments() const { return arguments_; }

 private:
  std::string_view name_{};
  json::Value arguments_{};
  json::Document document_{};
};

/// ragas compares the values' texts: 5 and "5" are the same.
bool same_argument(const json::Value& own, const json::Value& expected) {
  if (json::equal(own, expected)) return true;
  const std::string a = json::scalar_text(own), b = json::scalar_text(expected);
  return !a.empty() && a == b;
}

double arguments_score(const json::Value& own, const json::Value& expected) {
  const auto wanted = expected.members();
  if (wanted.empty()) return own.members().empty() ? 1 : 0;
  double same = 0;
  for (const json::Member& each : wanted)
    if (const json::Value* value = own.find(each.key); value != nullptr && same_argument(*value, each.value)) ++same;
  return same / static_cast<double>(wanted.size());
}

std::string_view speaker_of(const json::Value& message) {
  std::string_view role = json::text(&message, {"role"});
  if (role.empty()) role = json::text(&message, {"type"});
  if (role == "user" || role == "human") return "User";
  if (role == "assistant" || role == "ai") return "Assistant";
  if (role == "tool" || role == "function") return "Tool";
  if (role == "system" || role == "developer") return "System";
  return {};
}

std::string content_of(const json::Value& message) {
  const json::Value content = json::value_at(&message, {"content"});
  std::string out(content.string());
  for (const json::Value& part : content.items()) out += json::text(&part, {"text"});
  return out;
}

}  // namespace

std::expected<Trajectory, std::string> read_trajectory(const json::Value& row) {
  const json::Value* messages = row.find("user_input");
  if (messages == nullptr) messages = row.find("messages");
  if (messages == nullptr || messages->items().empty()) return std::unexpected(R"(has no "user_input" or "messages")");
  Trajectory out;
  for (const json::Value& message : messages->items()) {
    const std::string_view speaker = speaker_of(message);
    if (speaker.empty()) return std::unexpected("has a message that is of no user, assistant or tool");
    if (const std::string content = content_of(message); !content.empty())
      out.transcript += fmt::format("{}: {}\n", speaker, content);
    if (speaker != "Assistant") continue;
    for (const json::Value& each : json::items(&message, {"tool_calls"})) {
      const OpenCall call(each);
      if (call.name().empty()) return std::unexpected("has a call without the name of a function");
      out.transcript += fmt::format("Assistant calls {}({})\n", call.name(), json::to_json(call.arguments()));
      out.calls.push_back(each);
    }
  }
  return out;
}

double tool_call_accuracy(std::span<const json::Value> calls, std::span<const json::Value> expected) {
  if (calls.size() != expected.size()) return 0;
  if (calls.empty()) return 1;
  double sum = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const OpenCall own(calls[i]), wanted(expected[i]);
    if (own.name() != wanted.name()) return 0;
    sum += arguments_score(own.arguments(), wanted.arguments());
  }
  return sum / static_cast<double>(calls.size());
}

}  // namespace stackgate::evaluator
