// The rails in Colang. A rail that blocks says its refusal, or creates its event with enable_rails_exceptions, and
// stops.
#include <array>

#include "services/guardrail/library/library.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::string_view messages = R"(define bot refuse to respond
  "I'm sorry, I can't respond to that."

define bot inform answer unknown
  "I don't know the answer to that."

define bot inform answer prone to hallucination
  "The previous answer may not be accurate. Please check it against other sources."

define bot refuse tool call
  "I'm sorry, I can't allow that tool call."

define bot inform text too long
  "I'm sorry, that text is too long."

define bot inform language not supported
  "I'm sorry, I can't converse in that language."

define bot refuse topic
  "I'm sorry, I can't talk about that."
)";

constexpr std::string_view self_check = R"(define flow self check input
  $allowed = execute self_check_input
  if not $allowed
    if $config.enable_rails_exceptions
      create event InputRailException(message="Input not allowed. The input was blocked by the 'self check input' flow.")
    else
      bot refuse to respond
    stop

define flow self check output
  $allowed = execute self_check_output
  if not $allowed
    if $config.enable_rails_exceptions
      create event OutputRailException(message="Output not allowed. The output was blocked by the 'self check output' flow.")
    else
      bot refuse to respond
    stop

define subflow self check facts
  """Whether the answer follows from the relevant chunks; for answers before which a flow set $check_facts."""
  if $check_facts == True
    $check_facts = False
    $accuracy = execute self_check_facts
    if not $accuracy >= 0.5
      if $config.enable_rails_exceptions
        create event FactCheckRailException(message="Fact check failed. The answer does not follow from the relevant chunks.")
      else
        bot refuse to respond
      stop

define flow self check hallucination
  """Whether other answers to the same question agree; for answers before which a flow set $check_hallucination."""
  if $check_hallucination == True
    $check_hallucination = False
    $is_hallucination = execute self_check_hallucination
    if $is_hallucination
      if $config.enable_rails_exceptions
        create event SelfCheckHallucinationRailException(message="Hallucination detected in the output. The output was blocked by the 'self check hallucination' flow.")
      else
        bot inform answer unknown
      stop

define flow hallucination warning
  """The same, with a warning behind the answer."""
  if $hallucination_warning == True
    $hallucination_warning = False
    $is_hallucination = execute self_check_hallucination
    if $is_hallucination
      bot inform answer prone to hallucination
)";

constexpr std::string_view safety_models = R"(define flow content safety check input
  $response = execute content_safety_check_input(model=$model)
  $policy_violations = $response["policy_violations"]
  if not $response["allowed"]
    if $config.enable_rails_exceptions
      create event ContentSafetyCheckInputException(message="Input not allowed. The input was blocked by the 'content safety check input' flow.")
    else
      bot refuse to respond
    stop

define flow content safety check output
  $response = execute content_safety_check_output(model=$model)
  $policy_violations = $response["policy_violations"]
  if not $response["allowed"]
    if $config.enable_rails_exceptions
      create event ContentSafetyCheckOutputException(message="Output not allowed. The output was blocked by the 'content safety check output' flow.")
    else
      bot refuse to respond
    stop

define flow topic safety check input
  $response = execute topic_safety_check_input(model=$model)
  if not $response["on_topic"]
    if $config.enable_rails_exceptions
      create event TopicSafetyCheckInputException(message="Input not allowed. The input was blocked by the 'topic safety check input' flow.")
    else
      bot refuse to respond
    stop

define flow llama guard check input
  $response = execute llama_guard_check_input
  $llama_guard_policy_violations = $response["policy_violations"]
  if not $response["allowed"]
    if $config.enable_rails_exceptions
      create event LlamaGuardInputRailException(message="Input not allowed. The input was blocked by the 'llama guard check input' flow.")
    else
      bot refuse to respond
    stop

define flow llama guard check output
  $response = execute llama_guard_check_output
  $llama_guard_policy_violations = $response["policy_violations"]
  if not $response["allowed"]
    if $config.enable_rails_exceptions
      create event LlamaGuardOutputRailException(message="Output not allowed. The output was blocked by the 'llama guard check output' flow.")
    else
      bot refuse to respond
    stop
)";

constexpr std::string_view jailbreak = R"(define subflow jailbreak detection heuristics
  $is_jailbreak = execute jailbreak_detection_heuristics
  if $is_jailbreak
    if $config.enable_rails_exceptions
      create event JailbreakDetectionRailException(message="Jailbreak attempt detected by the 'jailbreak detection heuristics' flow.")
    else
      bot refuse to respond
    stop

define subflow jailbreak detection model
  $is_jailbreak = execute jailbreak_detection_model
  if $is_jailbreak
    if $config.enable_rails_exceptions
      create event JailbreakDetectionRailException(message="Jailbreak attempt detected by the 'jailbreak detection model' flow.")
    else
      bot refuse to respond
    stop
)";

constexpr std::string_view sensitive_data = R"(define subflow detect sensitive data on input
  $has_sensitive_data = execute detect_sensitive_data(source="input", text=$user_message)
  if $has_sensitive_data
    if $config.enable_rails_exceptions
      create event DetectSensitiveDataRailException(message="Sensitive data detected in the input.")
    else
      bot inform answer unknown
    stop

define subflow mask sensitive data on input
  $user_message = execute mask_sensitive_data(source="input", text=$user_message)

define subflow detect sensitive data on output
  $has_sensitive_data = execute detect_sensitive_data(source="output", text=$bot_message)
  if $has_sensitive_data
    if $config.enable_rails_exceptions
      create event DetectSensitiveDataRailException(message="Sensitive data detected in the output.")
    else
      bot inform answer unknown
    stop

define subflow mask sensitive data on output
  $bot_message = execute mask_sensitive_data(source="output", text=$bot_message)

define subflow detect sensitive data on retrieval
  $has_sensitive_data = execute detect_sensitive_data(source="retrieval", text=$relevant_chunks)
  if $has_sensitive_data
    if $config.enable_rails_exceptions
      create event DetectSensitiveDataRailException(message="Sensitive data detected in the relevant chunks.")
    else
      bot inform answer unknown
    stop

define subflow mask sensitive data on retrieval
  $relevant_chunks = execute mask_sensitive_data(source="retrieval", text=$relevant_chunks)
)";

constexpr std::string_view patterns = R"(define flow regex check input
  $matches = execute detect_regex_pattern(source="input", text=$user_message)
  if $matches
    if $config.enable_rails_exceptions
      create event RegexCheckInputRailException(message="Input not allowed. The input was blocked by the 'regex check input' flow.")
    else
      bot refuse to respond
    stop

define flow regex check output
  $matches = execute detect_regex_pattern(source="output", text=$bot_message)
  if $matches
    if $config.enable_rails_exceptions
      create event RegexCheckOutputRailException(message="Output not allowed. The output was blocked by the 'regex check output' flow.")
    else
      bot refuse to respond
    stop

define flow regex check retrieval
  $matches = execute detect_regex_pattern(source="retrieval", text=$relevant_chunks)
  if $matches
    if $config.enable_rails_exceptions
      create event RegexCheckRetrievalRailException(message="Retrieval not allowed. The relevant chunks were blocked by the 'regex check retrieval' flow.")
    else
      bot refuse to respond
    stop

define flow regex redact input
  $user_message = execute redact_regex_pattern(source="input", text=$user_message)

define flow regex redact output
  $bot_message = execute redact_regex_pattern(source="output", text=$bot_message)

define flow regex redact retrieval
  $relevant_chunks = execute redact_regex_pattern(source="retrieval", text=$relevant_chunks)
)";

constexpr std::string_view injection = R"(define flow injection detection
  """What could be executed where the answer goes: blocked, or left out with the action "omit"."""
  $injection = execute injection_detection(text=$bot_message)
  if $injection["is_injection"]
    if $injection["action"] == "omit"
      $bot_message = $injection["text"]
    else
      if $config.enable_rails_exceptions
        create event InjectionDetectionRailException(message="Output not allowed. The output was blocked by the 'injection detection' flow.")
      else
        bot refuse to respond
      stop
)";

constexpr std::string_view limits = R"(define flow check length on input
  $allowed = execute check_length(source="input", text=$user_message)
  if not $allowed
    if $config.enable_rails_exceptions
      create event LengthRailException(message="Input not allowed. The input was blocked by the 'check length on input' flow.")
    else
      bot inform text too long
    stop

define flow check length on output
  $allowed = execute check_length(source="output", text=$bot_message)
  if not $allowed
    if $config.enable_rails_exceptions
      create event LengthRailException(message="Output not allowed. The output was blocked by the 'check length on output' flow.")
    else
      bot refuse to respond
    stop

define flow check language on input
  $allowed = execute check_language(source="input", text=$user_message)
  if not $allowed
    if $config.enable_rails_exceptions
      create event LanguageRailException(message="Input not allowed. The input was blocked by the 'check language on input' flow.")
    else
      bot inform language not supported
    stop

define flow check language on output
  $allowed = execute check_language(source="output", text=$bot_message)
  if not $allowed
    if $config.enable_rails_exceptions
      create event LanguageRailException(message="Output not allowed. The output was blocked by the 'check language on output' flow.")
    else
      bot refuse to respond
    stop
)";

constexpr std::string_view topics = R"(define flow check topic on input
  """Whether the message is nearer to the examples of allowed topics than to others."""
  $allowed = execute check_topic(source="input", text=$user_message)
  if not $allowed
    if $config.enable_rails_exceptions
      create event TopicRailException(message="Input not allowed. The input was blocked by the 'check topic on input' flow.")
    else
      bot refuse topic
    stop
)";

constexpr std::string_view tool_calls = R"(define flow check tool calls
  """Whether the configuration allows every function that the model wants to call."""
  $allowed = execute check_tool_calls(tool_calls=$tool_calls)
  if not $allowed
    if $config.enable_rails_exceptions
      create event ToolCallGuardException(message="Tool call not allowed. It was blocked by the 'check tool calls' flow.")
    else
      bot refuse tool call
    stop
)";

}  // namespace

std::span<const colang::Source> library_sources() {
  static const auto sources = [] {
    const auto file = [](std::string_view name, std::string_view text) {
      return colang::Source{.name = std::string(name), .text = std::string(text), .built_in = true};
    };
    return std::array{file("library/messages.co", messages),
                      file("library/self_check.co", self_check),
                      file("library/safety_models.co", safety_models),
                      file("library/jailbreak.co", jailbreak),
                      file("library/sensitive_data.co", sensitive_data),
                      file("library/patterns.co", patterns),
                      file("library/injection.co", injection),
                      file("library/limits.co", limits),
                      file("library/topics.co", topics),
                      file("library/tool_calls.co", tool_calls)};
  }();
  return sources;
}

}  // namespace stackgate::guardrail
