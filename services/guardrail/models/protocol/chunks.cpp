#include "services/guardrail/models/protocol/chunks.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::size_t most_text = 8U << 20U;
constexpr std::size_t most_tool_bytes = 4U << 20U;
constexpr std::size_t most_tools = 1'024;

}  // namespace

ChunkReader::Kind ChunkReader::refuse(std::string why) {
  fault_ = std::move(why);
  return Kind::failed;
}

bool ChunkReader::add_tool_calls(const json::Value* delta) {
  for (const json::Value& each : json::items(delta, {"tool_calls"})) {
    const auto index =
        json::integer(&each, {"index"}, static_cast<std::int64_t>(tools_.empty() ? 0 : tools_.size() - 1));
    const std::string_view id = json::text(&each, {"id"}), name = json::text(&each, {"function", "name"}),
                           arguments = json::text(&each, {"function", "arguments"});
    tool_bytes_ += id.size() + name.size() + arguments.size();
    ToolCall& call = tools_[index];
    if (tools_.size() > most_tools || tool_bytes_ > most_tool_bytes) return false;
    if (call.id.empty()) call.id = id;
    if (call.name.empty()) call.name = name;
    call.arguments += arguments;
  }
  return true;
}

ChunkReader::Kind ChunkReader::take(std::string_view data, ModelDelta& delta) {
  delta = {};
  if (!fault_.empty()) return Kind::failed;
  if (data == "[DONE]") {
    done_ = true;
    return Kind::end;
  }
  json::Document document;
  const auto root = json::parse(data, document, {.max_depth = 64});
  if (!root || !root->is_object()) return refuse("an event of the stream is no JSON object");
  const json::Value* const error = root->find("error");
  if (error != nullptr && !error->is_null()) {
    error_body_ = data;
    return refuse("the endpoint ended the stream with an error");
  }
  const json::Value* const choices = root->find("choices");
  if (choices == nullptr || !choices->is_array()) return refuse("an event of the stream has no choices");
  for (const json::Value& choice : choices->items()) {
    if (json::integer(&choice, {"index"}) != 0) continue;
    const json::Value* const part = json::at(&choice, {"delta"});
    delta.text += completion_ ? json::text(&choice, {"text"}) : json::text(part, {"content"});
    if (!completion_) delta.text += json::text(part, {"refusal"});  // instead of content, as in a whole answer
    if (!add_tool_calls(part)) return refuse("the stream's tool calls are too large");
    const std::string_view reason = json::text(&choice, {"finish_reason"});
    if (!reason.empty()) answer_.finish_reason = reason.substr(0, 64);
  }
  answer_.text += delta.text;
  if (answer_.text.size() > most_text) return refuse("the stream's text is too large");
  if (answer_.model.empty()) answer_.model = json::text(&*root, {"model"}).substr(0, 1'024);
  if (const json::Value usage = json::value_at(&*root, {"usage"}); usage.is_object()) {
    const auto count = [&](std::string_view name) {
      return static_cast<std::uint32_t>(std::clamp<std::int64_t>(json::integer(&usage, {name}), 0, UINT32_MAX));
    };
    answer_.usage = {.prompt = count("prompt_tokens"), .completion = count("completion_tokens")};
  }
  delta.event = data;
  return Kind::delta;
}

ModelAnswer ChunkReader::finish() {
  ModelAnswer out = std::move(answer_);
  out.has_tool_calls = !tools_.empty();
  if (completion_) return out;
  out.message = json::object_text([&](json::Writer& w) {
    w.member("role", "assistant");
    if (out.text.empty() && out.has_tool_calls)
      w.member("content", nullptr);
    else
      w.member("content", out.text);
    if (!out.has_tool_calls) return;
    w.array("tool_calls", [&] {
      for (const ToolCall& call : std::views::values(tools_))
        w.object([&] {
          w.member("id", call.id);
          w.member("type", "function");
          w.object("function", [&] {
            w.member("name", call.name);
            w.member("arguments", call.arguments);
          });
        });
    });
  });
  return out;
}

}  // namespace stackgate::guardrail
