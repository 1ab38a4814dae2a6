// The text that a model is given before it answers: a description, examples, and the question. Pure and thread-safe.
#pragma once
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/endpoint/protocol/question.hpp"
#include "services/evaluator/suite/harness/templates.hpp"

namespace stackgate::evaluator::harness {

struct Prompt {
  std::string description{};            // a chat's system message
  std::vector<std::string> contexts{};  // with examples and question; several where choices are contexts
  std::string prefix{};                 // what the answer begins with, which a context ends with, too

  std::string whole(std::size_t context) const { return description + contexts[context]; }
  /// The description as the system's message, all else as one of the user, and the prefix as the assistant's.
  std::vector<ChatMessage> chat() const;
  std::string separator{};  // between a context and its prefix
};

struct Joints {
  std::string target = " ", fewshot = "\n\n";
};

/// One example: the question with its answer.
std::expected<std::string, std::string> example_text(const Doc& doc, const Joints& joints, std::string_view prefix);

std::expected<Prompt, std::string> prompt_of(const Doc& doc, std::string description,
                                             std::span<const std::string> examples, const Joints& joints,
                                             std::string prefix);

/// A context without the white space at its end, which is moved to what follows it.
struct Continued {
  std::string context{}, continuation{};
};
Continued continued(std::string context, std::string_view continuation);

}  // namespace stackgate::evaluator::harness
