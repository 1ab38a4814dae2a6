// POST /v1/chat/completions and what is like it, in three forms of body:
//   older         config_id, config_ids, thread_id, context, state, options at the top (the specification's)
//   newer         OpenAI's body with all of that inside of `guardrails`
//   microservice  the same, with `guardrails.config` (inline) and `guardrails.return_choice`
// A member may stand at either place, not at both. Source: services.md section 5.1. Pure.
#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "services/guardrail/api/message.hpp"
#include "services/guardrail/configuration/configuration.hpp"

namespace stackgate::guardrail {

struct LogOptions {
  bool activated_rails = false, llm_calls = false, internal_events = false, colang_history = false;
  bool any() const { return activated_rails || llm_calls || internal_events || colang_history; }
};

struct RequestOptions {
  RailSelection rails{};
  RailChoice tool_calls{}, tool_results{};  // options.rails.tool_call (tool_output), tool_result (tool_input)
  std::string llm_params{};                 // JSON object, or ""
  bool llm_output = false;
  bool all_output_vars = false;
  std::vector<std::string> output_vars{};
  LogOptions log{};
};

struct ChatRequest {
  std::vector<std::string> config_ids{};  // empty: the server's default; each is none that leads to another folder
  std::vector<File> inline_files{};       // guardrails.config: "config.yml", and "config.co" of its colang_content
  std::string model{};                    // empty: the configuration's
  std::vector<ChatMessage> messages{};
  std::string thread_id{};  // empty: none
  Variables context{};
  DialogState state{};
  bool has_state = false;  // the client wants it back
  RequestOptions options{};
  /// JSON object: options.llm_params and all other members of the body, as they were sent, for the main model.
  std::string parameters{"{}"};
  std::optional<std::uint64_t> seed{};  // of the body, which the model gets, too: which of several texts the bot says
  bool stream = false;
  bool include_usage = false;  // stream_options
  bool return_choice = false;
  bool older_form = false;  // without `guardrails`
};

/// All faults at once; `refuse` makes an answer of them.
std::expected<ChatRequest, validate::Findings> read_chat(const json::Value& body);

/// /v1/guardrail/completions: `prompt`, one text, is the user's message.
std::expected<ChatRequest, validate::Findings> read_completion(const json::Value& body);

/// /v1/checks and /v1/guardrail/checks.
struct CheckRequest {
  ChatRequest chat{};  // options.rails says which are run: by rail_types, else by the roles of the messages
  TurnParts turn{};
};
std::expected<CheckRequest, validate::Findings> read_check(const json::Value& body);

/// What is wrong with an id of a configuration; "" when nothing is.
std::string_view configuration_id_fault(std::string_view id);

}  // namespace stackgate::guardrail
