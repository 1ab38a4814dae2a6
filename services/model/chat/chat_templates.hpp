// A conversation as the text that a model was trained on: its chat templates, compiled once. Pure.
// Source: transformers' apply_chat_template, and what vLLM makes of messages before it.
//
// A const ChatTemplates may be used by any number of threads at once. The text has its special tokens already: encode
// it without adding any (tokenizer::EncodeOptions::add_special_tokens = false).
#pragma once
#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "services/kit/findings/finding.hpp"
#include "services/kit/jinja/template.hpp"
#include "services/kit/json/value.hpp"
#include "services/model/directory/tokenizer_config.hpp"

namespace stackgate::model {

/// What is wrong with a request; its status is 400.
struct ChatFault {
  std::string param;    // "messages[2].content[0].type"
  std::string message;  // with the cure, but for what the template itself says (raise_exception)
};

/// Members of a chat request; null for what it does not have. The values must live during the call only.
struct Conversation {
  json::Value messages;   // a list of objects with "role" and "content"
  json::Value tools;      // a list; an empty one is none
  json::Value documents;  // a list
  json::Value kwargs;     // chat_template_kwargs: an object; more variables, instead of special tokens of the same name
  bool add_generation_prompt = true;
};

struct ChatSettings {
  /// What strftime_now() prints; without it templates that call it unasked do not compile.
  std::function<std::chrono::local_seconds()> clock{};
  jinja::Limits limits{};  // of one rendering
};

struct ChatTemplatesRead;

class ChatTemplates {
 public:
  /// `templates` as ModelDirectory has them: "default" is used, "tool_use", if there is one, when tools are given. No
  /// templates at all are no fault here: render() says so. Takes some milliseconds.
  static ChatTemplatesRead compile(std::span<const NamedTemplate> templates, const SpecialTokens& special_tokens,
                                   const ChatSettings& settings = {});

  ChatTemplates();
  ChatTemplates(ChatTemplates&&) noexcept;
  ChatTemplates& operator=(ChatTemplates&&) noexcept;
  ~ChatTemplates();

  bool empty() const;
  /// Whether a model's call of a tool stands in its prompts as <tool_call>{"name": …, "arguments": …}</tool_call>, as
  /// Hermes and Qwen write it.
  bool writes_tagged_calls() const;
  /// The text, and the parts of it that `{% generation %}` marks: what a trainer learns from.
  std::expected<jinja::Rendering, ChatFault> render(const Conversation& conversation) const;

 private:
  struct Compiled;
  std::unique_ptr<const Compiled> compiled_;  // never nullptr but after a move
};

struct ChatTemplatesRead {
  ChatTemplates templates;
  validate::Findings findings;  // paths: "chat_template[tool_use]"; an error: the template cannot be used
};

}  // namespace stackgate::model
