#include "services/inference/api/chat_request.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::inference {
namespace {

using validate::JsonPlace;

/// OpenAI's: letters, digits, '_' and '-', at most 64.
bool is_function_name(std::string_view name) {
  constexpr std::size_t longest = 64;
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= longest && std::ranges::all_of(name, fits);
}

void read_tool(Fields& fields, const JsonPlace& at, std::vector<Tool>& out) {
  if (!at.value.is_object() || json::text_at(at.value, "type") != "function")
    return fields.wrong_type(at, "an object with \"type\": \"function\" and \"function\"");
  const json::Value function = json::value_at(&at.value, {"function"});
  const std::string_view name = json::text_at(function, "name");
  if (!is_function_name(name))
    return fields.wrong_type(at, "a tool with \"function\": {\"name\"} of at most 64 letters, digits, \"_\" and \"-\"");
  if (std::ranges::find(out, name, &Tool::name) != out.end())
    return fields.wrong(at, fmt::format("is named \"{}\" as another one", name), "give each tool a name of its own");
  const json::Value* parameters = function.find("parameters");
  const bool none = parameters == nullptr || parameters->is_null();
  if (!none && !parameters->is_object()) return fields.wrong_type(at, "a tool whose \"parameters\" are a JSON Schema");
  out.push_back({std::string(name), none ? "" : json::to_json(*parameters)});
  if (out.back().parameters.size() > largest_schema)
    fields.wrong(at, "has \"parameters\" that are too large", fmt::format("write at most {} bytes", largest_schema));
}

std::vector<Tool> read_tools(Fields& fields) {
  std::vector<Tool> out;
  const json::Value* found = fields.find("tools");
  if (found == nullptr) return out;
  if (found->items().size() > most_tools) {
    fields.wrong("tools", fmt::format("has {} tools", found->items().size()),
                 fmt::format("send at most {}", most_tools));
    return out;
  }
  for (std::size_t i = 0; i < found->items().size(); ++i)
    read_tool(fields, {fmt::format("tools[{}]", i), found->items()[i]}, out);
  return out;
}

ToolChoice read_tool_choice(Fields& fields, const std::vector<Tool>& tools) {
  using Kind = ToolChoice::Kind;
  const json::Value* found = fields.find("tool_choice");
  if (found == nullptr) return {tools.empty() ? Kind::none : Kind::automatic};
  const std::string_view word = found->string();
  if (word == "none") return {Kind::none};
  if (word == "auto") return {tools.empty() ? Kind::none : Kind::automatic};
  const std::string_view name = json::text(found, {"function", "name"});
  if (word != "required" && name.empty())
    return fields.wrong_type(fields.place("tool_choice"),
                             "\"none\", \"auto\", \"required\" or {\"type\": \"function\", \"function\": {\"name\"}}"),
           ToolChoice{};
  if (word == "required" && tools.empty())
    fields.wrong("tool_choice", "asks for a tool, and there is none", "send \"tools\"");
  if (!name.empty() && std::ranges::find(tools, name, &Tool::name) == tools.end())
    fields.wrong("tool_choice", fmt::format("names \"{}\", which is none of \"tools\"", name), "name one of them");
  if (word == "required") return {Kind::required};
  return {Kind::named, std::string(name)};
}

void read_log_probs(Fields& fields, Generation& out) {
  const bool wanted = fields.flag("logprobs");
  const auto top = fields.whole("top_logprobs", 0, most_log_probs);
  if (top && *top > 0 && !wanted)
    fields.wrong("top_logprobs", "is given without \"logprobs\"", "write \"logprobs\": true");
  if (wanted) out.log_probs = top.value_or(0);
}

void read_length(Fields& fields, const ApiLimits& limits, Generation& out) {
  const auto older = fields.whole("max_tokens", 1, limits.context);
  const auto newer = fields.whole("max_completion_tokens", 1, limits.context);
  out.max_tokens = newer ? newer : older;
  if (out.max_tokens && out.text.min_tokens > *out.max_tokens)
    fields.wrong("min_tokens", fmt::format("is more than the {} tokens of the answer", *out.max_tokens),
                 "write at most as much");
}

}  // namespace

std::expected<ChatRequest, validate::Findings> read_chat(const json::Value& body, const ApiLimits& limits) {
  validate::Findings findings;
  Fields fields(body, findings);
  if (!findings.empty()) return std::unexpected(std::move(findings));
  ChatRequest out;
  if (!fields.has("messages")) fields.missing("messages", "write a list of {\"role\", \"content\"}");
  out.chat = read_template_input(fields);
  out.generation = read_generation(fields, limits);
  out.generation.add_special_tokens = fields.flag("add_special_tokens");
  read_length(fields, limits, out.generation);
  read_log_probs(fields, out.generation);
  out.tools = read_tools(fields);
  out.tool_choice = read_tool_choice(fields, out.tools);
  if (fields.asks("echo")) fields.not_served(fields.place("echo"), "is not served for chats", "use /v1/completions");
  if (fields.asks("prompt"))
    fields.not_served(fields.place("prompt"), "is not served for chats", "use \"messages\", or /v1/completions");
  const auto forced = out.tool_choice.kind;
  if (out.generation.format.kind != ResponseFormat::Kind::text &&
      (forced == ToolChoice::Kind::required || forced == ToolChoice::Kind::named))
    fields.wrong("response_format", "cannot hold while \"tool_choice\" asks for a tool", "leave out one of them");
  if (!findings.empty()) return std::unexpected(std::move(findings));
  return out;
}

}  // namespace stackgate::inference
