// What a model is asked: bodies for /completions and /chat/completions. Pure and thread-safe.
// Source: https://platform.openai.com/docs/api-reference; services.md 4.3 for `echo`.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::evaluator {

struct ChatMessage {
  std::string role, content{};
  std::string tool_calls{};    // JSON array, or "": calls that an assistant made before
  std::string tool_call_id{};  // of the call whose result this is, or ""
};

struct Question {
  std::string prompt{};                 // /completions
  std::vector<ChatMessage> messages{};  // /chat/completions, where there are any
  std::uint32_t max_tokens = 256;
  std::optional<double> temperature{}, top_p{};
  std::vector<std::string> stop{};
  std::optional<std::uint64_t> seed{};
  std::string tools{};  // JSON array, or "": /chat/completions
  /// Log-probabilities of the prompt's own tokens, of which those behind the first `context_characters` (code points)
  /// are what is asked for; nothing is generated that counts.
  bool likelihood = false;
  std::size_t context_characters = 0;

  bool is_chat() const { return !messages.empty(); }
};

/// "/completions" or "/chat/completions".
std::string_view path_of(const Question& question);
std::string write_question(const Question& question, std::string_view model);

/// What distinguishes a server that gives log-probabilities of generated tokens only from one that gives those of the
/// prompt.
Question likelihood_probe();

}  // namespace stackgate::evaluator
