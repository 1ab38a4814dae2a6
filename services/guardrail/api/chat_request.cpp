#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/guardrail/api/limits.hpp"
#include "services/guardrail/api/options.hpp"
#include "services/guardrail/api/own_members.hpp"
#include "services/guardrail/api/request.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::guardrail {
namespace {

using validate::JsonPlace;

// What does not go to the main model as it came.
constexpr std::array<std::string_view, 15> not_parameters = {
    "messages",   "model",     "prompt",  "stream", "stream_options", "n",          "guardrails", "config_id",
    "config_ids", "thread_id", "context", "state",  "options",        "rail_types", "config"};

bool is_parameter(std::string_view key) { return std::ranges::find(not_parameters, key) == not_parameters.end(); }

/// Those of `llm_params`, a JSON object or "", come before the body's own. It must not ask for what the body may not.
std::string parameters_of(const json::Value& body, std::string_view llm_params) {
  json::Document document;
  const auto read = json::parse(llm_params, document);
  const json::Value first = read ? *read : json::Value{};
  return json::object_text([&](json::Writer& w) {
    for (const json::Member& each : body.members())
      if (is_parameter(each.key) && first.find(each.key) == nullptr) w.member(each.key, each.value);
    for (const json::Member& each : first.members())
      if (is_parameter(each.key) && each.key != "audio" && each.key != "modalities") w.member(each.key, each.value);
  });
}

void read_openai(Fields& body, validate::Findings& findings, ChatRequest& out) {
  out.model = body.text("model");
  out.stream = body.flag("stream");
  if (const json::Value* seed = body.find("seed"); seed != nullptr && seed->is_integer())
    out.seed = static_cast<std::uint64_t>(seed->integer());
  if (const auto at = body.object("stream_options"))
    out.include_usage = out.stream && Fields(*at, findings, Whose::openai).flag("include_usage");
  if (const json::Value* n = body.find("n"); n != nullptr && !(n->is_integer() && n->integer() == 1))
    body.not_served(body.place("n"), "asks for other than one answer", "ask for one: every answer is checked by rails");
  const json::Value* modalities = body.find("modalities");
  const auto is_audio = [](const json::Value& each) { return each.string() == "audio"; };
  if (body.has("audio") || (modalities != nullptr && std::ranges::any_of(modalities->items(), is_audio)))
    body.not_served(body.place(body.has("audio") ? "audio" : "modalities"), "asks for sound, which no rail can check",
                    "ask for text");
  out.parameters = parameters_of(body.at().value, out.options.llm_params);
}

void read_prompt(Fields& body, ChatRequest& out) {
  const json::Value* prompt = body.find("prompt");
  if (prompt == nullptr) return body.missing("prompt", "write a text");
  const json::Value* one = prompt->items().size() == 1 ? &prompt->items()[0] : prompt;
  if (!one->is_string()) return body.wrong_type(body.place("prompt"), "one text");
  ChatMessage message{.role = Role::user, .text = std::string(one->string())};
  message.json = json::object_text([&](json::Writer& w) {
    w.member("role", "user");
    w.member("content", message.text);
  });
  out.messages.push_back(std::move(message));
}

enum class Shape : std::uint8_t { chat, completion };

std::expected<ChatRequest, validate::Findings> read(const json::Value& root, Shape shape) {
  validate::Findings findings;
  Fields body({{}, root}, findings, Whose::openai);
  if (!findings.empty()) return std::unexpected(std::move(findings));
  ChatRequest out;
  read_own_members(body, findings, out);
  read_openai(body, findings, out);
  if (shape == Shape::completion)
    read_prompt(body, out);
  else
    out.messages = read_messages(body, out.context);
  if (!findings.empty()) return std::unexpected(std::move(findings));
  return out;
}

// The rails that are asked for: of the user's message, of the assistant's, or of both.
void choose_rails(const std::vector<std::string>& types, const TurnParts& turn, RequestOptions& out) {
  const auto wanted = [&types](std::string_view type) { return std::ranges::find(types, type) != types.end(); };
  out.rails.dialog.on = false;
  out.rails.retrieval.on = false;
  if (types.empty()) {
    out.rails.input.on = out.rails.input.on && turn.user_message.has_value();
    out.rails.output.on = out.rails.output.on && turn.bot_message.has_value();
    out.tool_calls.on = out.tool_calls.on && !turn.tool_calls.empty();
    out.tool_results.on = out.tool_results.on && !turn.tool_results.empty();
    return;
  }
  out.rails.input.on = wanted("input");
  out.rails.output.on = wanted("output");
  out.tool_calls.on = wanted("tool_call") || wanted("tool_output");
  out.tool_results.on = wanted("tool_result") || wanted("tool_input");
}

}  // namespace

std::expected<ChatRequest, validate::Findings> read_chat(const json::Value& body) { return read(body, Shape::chat); }

std::expected<ChatRequest, validate::Findings> read_completion(const json::Value& body) {
  return read(body, Shape::completion);
}

std::expected<CheckRequest, validate::Findings> read_check(const json::Value& body) {
  auto chat = read_chat(body);
  validate::Findings findings;
  if (!chat) findings = std::move(chat.error());
  std::vector<std::string> types;
  if (body.is_object()) types = read_rail_types(body, findings);
  if (!findings.empty()) return std::unexpected(std::move(findings));
  CheckRequest out{.chat = std::move(*chat)};
  out.turn = turn_parts(out.chat.messages);
  Fields fields({{}, body}, findings, Whose::openai);
  const bool nothing = !out.turn.user_message && !out.turn.bot_message && out.turn.tool_results.empty();
  if (nothing) fields.wrong("messages", "has nothing to check", "send a message of the user or of the assistant");
  if (out.chat.stream) fields.not_served(fields.place("stream"), "is not served for checks", "leave it out");
  if (!findings.empty()) return std::unexpected(std::move(findings));
  choose_rails(types, out.turn, out.chat.options);
  return out;
}

}  // namespace stackgate::guardrail
