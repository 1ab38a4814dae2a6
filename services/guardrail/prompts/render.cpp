#include <algorithm>

#include "services/guardrail/prompts/history.hpp"
#include "services/guardrail/prompts/task.hpp"
#include "services/kit/base/concat.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::guardrail {
namespace {

// A prompt is at most some megabytes of text; a template that makes more is a fault of it.
constexpr jinja::Limits limits{.steps = 2'000'000, .output = 32U << 20U, .allocation = 512U << 20U};

std::size_t characters(const std::vector<Message>& messages) {
  std::size_t count = 0;
  for (const Message& each : messages)
    for (const char c : each.content) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  return count;
}

std::size_t bytes(const std::vector<Message>& messages) {
  std::size_t count = 0;
  for (const Message& each : messages) count += each.content.size();
  return count;
}

RenderFault fault_of(const Prompt& prompt, const jinja::Fault& fault) {
  return {concat({"prompt \"", prompt.task, "\": ", jinja::describe(fault)})};
}

std::string_view known_role(std::string_view role) {
  if (role == "bot") return "assistant";
  for (const std::string_view known : {"system", "user", "assistant", "developer", "tool"})
    if (role == known) return known;
  return {};
}

std::string_view member(const jinja::Dict& dict, std::string_view key) {
  const jinja::Value* found = dict.find(key);
  return found == nullptr ? std::string_view() : found->bytes();
}

using Status = std::expected<void, RenderFault>;

Status append_list(const Prompt& prompt, const jinja::Value& list, std::vector<Message>& out) {
  const auto wrong = [&](std::string_view what) {
    return std::unexpected(RenderFault{concat({"prompt \"", prompt.task, "\": ", what})});
  };
  if (list.list() == nullptr) return wrong("a part without a type gives no list of messages");
  for (const jinja::Value& item : (*list.list())->items) {
    if (item.dict() == nullptr) return wrong("a part without a type gives a list of other things than messages");
    const jinja::Dict& message = **item.dict();
    const std::string_view type = member(message, "type");
    const std::string_view role = known_role(type.empty() ? member(message, "role") : type);
    if (role.empty()) return wrong("a part without a type gives a message of an unknown role");
    const std::string_view content = member(message, "content");
    if (!trimmed(content).empty()) out.push_back({std::string(role), std::string(content)});
  }
  return {};
}

Status append(const Prompt& prompt, const PromptPart& part, const TaskContext& context, const jinja::LateFilter& late,
              std::vector<Message>& out) {
  if (part.messages) {
    const auto list = part.messages->evaluate(context, limits, late);
    if (!list) return std::unexpected(fault_of(prompt, list.error()));
    return append_list(prompt, *list, out);
  }
  auto text = part.content.render_marked(context, limits, late);
  if (!text) return std::unexpected(fault_of(prompt, text.error()));
  if (!trimmed(text->text).empty()) out.push_back({part.role.empty() ? "user" : part.role, std::move(text->text)});
  return {};
}

}  // namespace

std::expected<PromptPart, jinja::Fault> message_part(std::string_view role, std::string_view source,
                                                     const PromptCode& code) {
  auto content = TRY(jinja::Template::parse(source, prompt_environment(code)));
  const std::string_view known = known_role(role);
  if (known.empty() && !role.empty())
    return std::unexpected(jinja::Fault{jinja::FaultKind::type, concat({"there is no message type \"", role, "\""})});
  return PromptPart{std::string(known), std::move(content), std::string(source)};
}

std::expected<PromptPart, jinja::Fault> content_part(std::string_view source, const PromptCode& code) {
  return message_part({}, source, code);
}

std::expected<PromptPart, jinja::Fault> messages_part(std::string_view source, const PromptCode& code) {
  auto part = TRY(message_part({}, source, code));
  const std::string_view inside = trimmed(source);
  if (!inside.starts_with("{{") || !inside.ends_with("}}") || inside.size() < 5)
    return std::unexpected(jinja::Fault{jinja::FaultKind::syntax,
                                        "a part of messages without a type must be one expression, such as "
                                        "{{ history | colang | to_messages }}; give other texts a type",
                                        1, 1});
  // Blanks instead of the braces, so that places stay what they are.
  std::string expression(source);
  const auto begin = static_cast<std::size_t>(inside.begin() - source.begin());
  const std::size_t end = begin + inside.size();
  expression.replace(begin, 2, "  ");
  expression.replace(end - 2, 2, "  ");
  if (expression[begin + 2] == '-') expression[begin + 2] = ' ';
  if (expression[end - 3] == '-') expression[end - 3] = ' ';
  part.messages = TRY(jinja::Expression::parse(expression, prompt_environment(code)));
  return part;
}

bool Prompt::mentions(std::string_view variable) const {
  return std::ranges::any_of(parts, [&](const PromptPart& part) { return part.content.mentions(variable); });
}

std::vector<std::string> Prompt::code_filters() const {
  std::vector<std::string> out;
  for (const PromptPart& each : parts)
    out.insert(out.end(), each.content.late_filters().begin(), each.content.late_filters().end());
  return out;
}

std::expected<Rendered, RenderFault> render(const Prompt& prompt, const TaskContext& context, const CallCode& code) {
  jinja::LateFilter late;
  if (code)
    late = [&code](std::string_view name, const jinja::Arguments& arguments) {
      return code(CodeFunction::filter, name, arguments);
    };
  Rendered out{.messages = {}, .stop = prompt.stop, .max_tokens = prompt.max_tokens};
  for (const PromptPart& part : prompt.parts)
    if (auto done = append(prompt, part, context, late, out.messages); !done)
      return std::unexpected(std::move(done.error()));
  // Characters are no more than bytes, which need no counting.
  if (prompt.max_length > 0 && bytes(out.messages) > prompt.max_length)
    if (const std::size_t length = characters(out.messages); length > prompt.max_length)
      return std::unexpected(
          RenderFault{concat({"prompt \"", prompt.task, "\" has ", std::to_string(length),
                              " characters, and its max_length is ", std::to_string(prompt.max_length)}),
                      true});
  if (out.messages.empty()) return std::unexpected(RenderFault{concat({"prompt \"", prompt.task, "\" says nothing"})});
  return out;
}

}  // namespace stackgate::guardrail
