// What a model is asked: the prompt of a task, rendered to a text or to messages, and what its answer means. Pure.
// Source: NeMo Guardrails' prompts and output parsers; services.md section 5.4.
#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/jinja/template.hpp"
#include "services/kit/jinja/value.hpp"

namespace stackgate::guardrail {

/// What Python code adds to prompts, by name; it comes before what is built in.
struct PromptCode {
  std::vector<std::string> filters{}, parsers{};
  bool any_filter = false, any_parser = false;  // and others, whose names only running it gives
};
enum class CodeFunction : std::uint8_t { filter, parser };
/// Calls one of them, and blocks: a value, or why there is none (no text of a user).
using CallCode = std::function<std::expected<jinja::Value, std::string>(CodeFunction kind, std::string_view name,
                                                                        const jinja::Arguments& arguments)>;

struct PromptPart {
  std::string role;  // "system", "user", "assistant"; of `content` and of a part that gives messages: empty
  jinja::Template content;
  std::string source;
  /// Of a part that gives messages: what stands between its `{{ }}`; its value is a list of messages. Texts are never
  /// read as lists, as what a user wrote stands in them.
  std::optional<jinja::Expression> messages{};
};

/// One of `prompts`, the user's or a default.
struct Prompt {
  std::string task;                   // "self_check_input", "content_safety_check_input $model=content_safety"
  std::vector<std::string> models{};  // "openai/gpt-4o", "nim": only for these; empty: for all
  std::vector<PromptPart> parts;      // one without a role and without messages: `content`; else `messages`
  std::string output_parser{};        // empty: the task's own
  std::size_t max_length = 16'000;    // characters of all messages; longer is refused, never cut; 0: no limit
  std::vector<std::string> stop{};
  std::optional<std::uint32_t> max_tokens{};
  std::string mode{"standard"};
  bool built_in = false;
  bool parsed_by_code = false;  // output_parser is one of PromptCode

  /// Of PromptCode, and "map" where that may call one. Empty: render() needs no CallCode.
  std::vector<std::string> code_filters() const;

  /// Whether a part of it names this variable at all.
  bool mentions(std::string_view variable) const;
};

/// A part as a configuration writes it: of `content`, of one of `messages` with its type ("bot" is "assistant"), or of
/// a text among them, which must be one expression.
std::expected<PromptPart, jinja::Fault> content_part(std::string_view source, const PromptCode& code = {});
std::expected<PromptPart, jinja::Fault> message_part(std::string_view role, std::string_view source,
                                                     const PromptCode& code = {});
std::expected<PromptPart, jinja::Fault> messages_part(std::string_view source, const PromptCode& code = {});

/// Of a configuration: the user's before the defaults; those of the asked model before those of its engine before those
/// of all; the later of equals. A task with arguments ("… $model=x") without a prompt has that of the task without
/// them.
struct Prompts {
  std::vector<Prompt> prompts{};  // the user's
  std::string mode{"standard"};   // prompting_mode
  const Prompt* find(std::string_view task, std::string_view engine = {}, std::string_view model = {}) const;
};

struct Message {
  std::string role;
  std::string content;
};

/// What the templates see: `user_input`, `bot_response`, `history` (events), `general_instructions`,
/// `sample_conversation`, `examples`, `relevant_chunks`, …: a dict.
using TaskContext = jinja::Value;

/// Why a prompt cannot be asked: too long, or a fault of its template. For logs and for the rail, which then blocks.
struct RenderFault {
  std::string message;
  bool too_long = false;
};

struct Rendered {
  std::vector<Message> messages;  // of `content`: one of role "user"; none is empty
  std::vector<std::string> stop{};
  std::optional<std::uint32_t> max_tokens{};
};
/// Values are put in as values: what a user wrote is never read as a template.
std::expected<Rendered, RenderFault> render(const Prompt& prompt, const TaskContext& context,
                                            const CallCode& code = {});

/// What a task's answer takes at most where its prompt does not say it; nothing: no limit is sent.
std::optional<std::uint32_t> usual_max_tokens(std::string_view task);

/// The defaults, by task; their text is in default_prompts.cpp.
const std::vector<Prompt>& default_prompts();
/// Templates of prompts know the filters of services.md 5.4 ("colang", "to_messages", …).
const jinja::Environment& prompt_environment();
jinja::Environment prompt_environment(const PromptCode& code);
/// Tasks that a prompt may be given for, without their "$model=…".
const std::vector<std::string_view>& known_tasks();

/// What an answer means: `safe` of the checks (nothing: neither yes nor no, which blocks), else the text. Reasoning
/// between `<think>` and `</think>` is left out; one that does not end leaves nothing.
struct Parsed {
  std::optional<bool> safe{};
  std::vector<std::string> categories{};  // of content safety: what was violated
  std::string text{};                     // intent, message, value
  std::vector<std::string> steps{};       // of generate_next_steps: "bot x", "user y", up to what is neither
};
/// `parser` is empty or one of known_parsers(); the task's own when empty. In the checks of facts and hallucination
/// "yes" is safe (they ask whether the answer is supported), in all others "no" (they ask whether it is to be blocked).
/// Of generate_user_intent and generate_next_steps the text is the intent's name, of generate_bot_message what is said.
Parsed parse_output(std::string_view parser, std::string_view task, std::string_view answer);
/// What a parser of PromptCode made of an answer. A text is read as an answer of the task; of checks it may be what
/// "is_content_safe" gives: true, or a list of true and categories, where "no" is true. An error: it is none of these.
std::expected<Parsed, std::string> parsed_by_code(std::string_view task, const jinja::Value& made);
const std::vector<std::string_view>& known_parsers();

/// Of generate_intent_steps_message: what its answer's lines say; empty where they say nothing.
struct IntentSteps {
  std::string user_intent, bot_intent, bot_message;
};
IntentSteps read_intent_steps(std::string_view text);

/// The conversation of `events` in Colang's form, as the filter `colang` prints it: for options.log.colang_history.
std::string colang_history(const jinja::Value& events);

}  // namespace stackgate::guardrail
