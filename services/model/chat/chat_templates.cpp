#include "services/model/chat/chat_templates.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/jinja/from_value.hpp"
#include "services/kit/json/parse.hpp"
#include "services/model/chat/messages.hpp"

namespace stackgate::model {
namespace {

using jinja::Dict;
using jinja::DictPtr;
using jinja::Value;

constexpr std::string_view needle = "q7needle";
constexpr std::array<std::string_view, 3> own_parameters{"messages", "tools", "documents"};

std::shared_ptr<Dict> variables_of(const SpecialTokens& special_tokens) {
  auto out = std::make_shared<Dict>();
  for (const auto& [name, text] : special_tokens.texts) out->set(Value(name), Value(text));
  if (special_tokens.additional.empty()) return out;
  std::vector<Value> list;
  list.reserve(special_tokens.additional.size());
  for (const std::string& each : special_tokens.additional) list.emplace_back(each);
  out->set("additional_special_tokens", jinja::ListPtr(std::make_shared<const jinja::List>(std::move(list))));
  return out;
}

/// What apply_chat_template passes.
Value context_of(const Dict& special_tokens, Value messages, Value tools, Value documents, bool prompt,
                 const Dict* kwargs = nullptr) {
  auto out = std::make_shared<Dict>(special_tokens);
  out->set("messages", std::move(messages));
  out->set("tools", std::move(tools));
  out->set("documents", std::move(documents));
  out->set("add_generation_prompt", prompt);
  if (kwargs != nullptr)
    for (const auto& [name, value] : kwargs->items) out->set(name, value);
  return DictPtr(std::move(out));
}

/// A template is tried with a content of each form: what it does with "content" cannot be read off its text.
ContentForm form_of(const jinja::Template& compiled, const Dict& special_tokens, const jinja::Limits& limits) {
  const auto shows = [&](ContentForm form) {
    const std::array<json::Member, 2> members{
        {{"role", 0, json::Value::make_string("user", 0)}, {"content", 0, json::Value::make_string(needle, 0)}}};
    const json::Value message = json::Value::make_object(members, 0);
    auto messages = messages_value(json::Value::make_array({&message, 1}, 0), form);
    if (!messages) return false;
    const auto out = compiled.render_marked(
        context_of(special_tokens, std::move(*messages), jinja::None{}, jinja::None{}, true), limits);
    // A list that is printed as it stands shows its "type", too.
    return out && out->text.contains(needle) && !out->text.contains("'type'") && !out->text.contains("\"type\"");
  };
  const bool parts = shows(ContentForm::parts);
  if (!parts) return ContentForm::text;
  return shows(ContentForm::text) ? ContentForm::either : ContentForm::parts;
}

/// A template is tried with a call of a tool. One of the needle's name behind a mark is no example for the model.
bool has_tagged_calls(const jinja::Template& compiled, const Dict& special_tokens, const jinja::Limits& limits) {
  constexpr std::string_view mark = "<tool_call>";
  const std::string messages = fmt::format(
      R"([{{"role":"user","content":"x"}},{{"role":"assistant","content":"","tool_calls":[{{"id":"c00000000","type":)"
      R"("function","function":{{"name":"{}","arguments":{{}}}}}}]}}])",
      needle);
  const std::string tools = fmt::format(
      R"([{{"type":"function","function":{{"name":"{}","description":"","parameters":{{"type":"object","properties":{{}}}}}}}}])",
      needle);
  std::array<json::Document, 2> documents;
  const auto asked = json::parse(messages, documents[0]), known = json::parse(tools, documents[1]);
  if (!asked || !known) return false;
  auto turns = messages_value(*asked, ContentForm::text);
  auto list = jinja::from_json(*known);
  if (!turns || !list) return false;
  const auto out = compiled.render_marked(
      context_of(special_tokens, std::move(*turns), std::move(*list), jinja::None{}, false), limits);
  if (!out) return false;
  const std::string_view text = out->text;
  for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
    const std::size_t begin = text.find_first_not_of(" \n", at + mark.size());
    json::Document document;
    if (begin == std::string_view::npos || text[begin] != '{' ||
        !json::parse_one(text, static_cast<std::uint32_t>(begin), document))
      continue;
    const std::string call(text.substr(begin, text.find('}', begin) - begin));  // up to the end of no arguments
    const std::size_t name = call.find("\"name\""), value = call.find(needle), arguments = call.find("\"arguments\"");
    if (name == 1 && value != std::string::npos && arguments != std::string::npos && value < arguments) return true;
  }
  return false;
}

ChatFault request_fault(const jinja::Fault& fault) {
  if (fault.kind == jinja::FaultKind::raised) return {"messages", fault.message};
  const std::string_view why = fault.kind == jinja::FaultKind::limit
                                   ? "need more work than a chat template may do: send fewer or shorter ones"
                                   : "do not fit the model's chat template";
  return {"messages", fmt::format("the messages {}: {}", why, jinja::describe(fault))};
}

}  // namespace

struct ChatTemplates::Compiled {
  struct One {
    jinja::Template compiled;
    ContentForm form = ContentForm::text;
    bool tagged_calls = false;
  };
  std::optional<One> usual, with_tools;
  std::shared_ptr<const Dict> special_tokens = std::make_shared<const Dict>();
  jinja::Limits limits{};
};

ChatTemplates::ChatTemplates() : compiled_(std::make_unique<const Compiled>()) {}
ChatTemplates::ChatTemplates(ChatTemplates&&) noexcept = default;
ChatTemplates& ChatTemplates::operator=(ChatTemplates&&) noexcept = default;
ChatTemplates::~ChatTemplates() = default;

bool ChatTemplates::empty() const { return !compiled_->usual; }

bool ChatTemplates::writes_tagged_calls() const {
  const std::optional<Compiled::One>& used = compiled_->with_tools ? compiled_->with_tools : compiled_->usual;
  return used && used->tagged_calls;
}

ChatTemplatesRead ChatTemplates::compile(std::span<const NamedTemplate> templates, const SpecialTokens& special_tokens,
                                         const ChatSettings& settings) {
  ChatTemplatesRead read;
  auto made = std::make_unique<Compiled>();
  made->special_tokens = variables_of(special_tokens);
  made->limits = settings.limits;
  const auto wrong = [&](std::string path, std::string problem, std::string fix) {
    read.findings.push_back({.rule = "chat-template",
                             .path = std::move(path),
                             .value = {},
                             .problem = std::move(problem),
                             .fix = std::move(fix)});
  };
  const auto take = [&](std::string_view name) -> std::optional<Compiled::One> {
    const auto found = std::ranges::find(templates, name, &NamedTemplate::name);
    if (found == templates.end()) return std::nullopt;
    jinja::Environment environment;
    environment.clock = settings.clock;
    auto compiled = jinja::Template::parse(found->source, environment);
    if (compiled)
      return Compiled::One{
          *compiled, form_of(*compiled, *made->special_tokens, made->limits),
          compiled->mentions("tools") && has_tagged_calls(*compiled, *made->special_tokens, made->limits)};
    wrong(fmt::format("chat_template[{}]", name), jinja::describe(compiled.error()),
          "take the model's own template, or give one with --chat-template FILE");
    return std::nullopt;
  };
  made->usual = take("default");
  made->with_tools = take("tool_use");
  if (!templates.empty() && !made->usual && read.findings.empty())
    wrong("chat_template", "has no template with the name \"default\"", "name one of them \"default\"");
  read.templates.compiled_ = std::move(made);
  return read;
}

std::expected<jinja::Rendering, ChatFault> ChatTemplates::render(const Conversation& conversation) const {
  const auto fault = [](std::string_view param, std::string message) {
    return std::unexpected(ChatFault{std::string(param), std::move(message)});
  };
  const auto value = [&](std::string_view param, const json::Value& json,
                         bool wants_list) -> std::expected<Value, ChatFault> {
    if (!json.is_null() && (wants_list ? !json.is_array() : !json.is_object()))
      return fault(param, fmt::format("must be {}", wants_list ? "a list" : "an object"));
    if (json.is_array() && json.items().empty()) return jinja::None{};
    auto out = jinja::from_json(json);
    if (!out) return fault(param, out.error().message);
    return std::move(*out);
  };
  if (empty())
    return fault("messages",
                 "this model has no chat template: start the server with --chat-template FILE, or use /v1/completions");
  Value tools = TRY(value("tools", conversation.tools, true));
  Value documents = TRY(value("documents", conversation.documents, true));
  const Value kwargs = TRY(value("chat_template_kwargs", conversation.kwargs, false));
  for (const std::string_view name : own_parameters)
    if (kwargs.dict() != nullptr && (*kwargs.dict())->find(name) != nullptr)
      return fault(fmt::format("chat_template_kwargs.{}", name), "stands in the request itself: write it there");
  const bool has_tools = !tools.is_none();
  const Compiled::One& used = has_tools && compiled_->with_tools ? *compiled_->with_tools : *compiled_->usual;
  if (has_tools && !used.compiled.mentions("tools"))
    return fault("tools",
                 "this model's chat template knows no tools: leave them out, or use a model that was trained "
                 "with tools");
  Value messages = TRY(messages_value(conversation.messages, used.form));
  auto out = used.compiled.render_marked(
      context_of(*compiled_->special_tokens, std::move(messages), std::move(tools), std::move(documents),
                 conversation.add_generation_prompt, kwargs.dict() == nullptr ? nullptr : kwargs.dict()->get()),
      compiled_->limits);
  if (!out) return std::unexpected(request_fault(out.error()));
  return std::move(*out);
}

}  // namespace stackgate::model
