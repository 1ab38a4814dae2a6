// What each rail needs.
#include <algorithm>

#include "services/guardrail/library/library.hpp"

namespace stackgate::guardrail {
namespace {

using enum RailPlace;

constexpr BuiltInRail rails[] = {
    {.flow = "self check input",
     .place = input,
     .action = "self_check_input",
     .task = "self_check_input",
     .own_prompt = true,
     .asks = true,
     .exception = "InputRailException"},
    {.flow = "self check output",
     .place = output,
     .action = "self_check_output",
     .task = "self_check_output",
     .own_prompt = true,
     .asks = true,
     .exception = "OutputRailException"},
    {.flow = "self check facts",
     .place = output,
     .action = "self_check_facts",
     .task = "self_check_facts",
     .own_prompt = true,
     .asks = true,
     .whole_answer = "it compares the whole answer with the evidence",
     .enabled_by = "check_facts",
     .exception = "FactCheckRailException"},
    {.flow = "self check hallucination",
     .place = output,
     .action = "self_check_hallucination",
     .task = "self_check_hallucination",
     .asks = true,
     .whole_answer = "it compares the whole answer with others",
     .enabled_by = "check_hallucination",
     .exception = "SelfCheckHallucinationRailException"},
    {.flow = "hallucination warning",
     .place = output,
     .action = "self_check_hallucination",
     .task = "self_check_hallucination",
     .asks = true,
     .whole_answer = "it compares the whole answer with others",
     .enabled_by = "hallucination_warning"},
    {.flow = "content safety check input",
     .place = input,
     .action = "content_safety_check_input",
     .task = "content_safety_check_input",
     .own_prompt = true,
     .asks = true,
     .needs_model = true,
     .exception = "ContentSafetyCheckInputException"},
    {.flow = "content safety check output",
     .place = output,
     .action = "content_safety_check_output",
     .task = "content_safety_check_output",
     .own_prompt = true,
     .asks = true,
     .needs_model = true,
     .exception = "ContentSafetyCheckOutputException"},
    {.flow = "topic safety check input",
     .place = input,
     .action = "topic_safety_check_input",
     .task = "topic_safety_check_input",
     .own_prompt = true,
     .asks = true,
     .needs_model = true,
     .exception = "TopicSafetyCheckInputException"},
    {.flow = "llama guard check input",
     .place = input,
     .action = "llama_guard_check_input",
     .task = "llama_guard_check_input",
     .own_prompt = true,
     .asks = true,
     .exception = "LlamaGuardInputRailException"},
    {.flow = "llama guard check output",
     .place = output,
     .action = "llama_guard_check_output",
     .task = "llama_guard_check_output",
     .own_prompt = true,
     .asks = true,
     .exception = "LlamaGuardOutputRailException"},
    {.flow = "jailbreak detection heuristics",
     .place = input,
     .action = "jailbreak_detection_heuristics",
     .task = "",
     .asks = true,
     .exception = "JailbreakDetectionRailException"},
    {.flow = "jailbreak detection model",
     .place = input,
     .action = "jailbreak_detection_model",
     .task = "",
     .asks = true,
     .exception = "JailbreakDetectionRailException"},
    {.flow = "detect sensitive data on input",
     .place = input,
     .action = "detect_sensitive_data",
     .task = "",
     .config = "sensitive_data_detection.input",
     .exception = "DetectSensitiveDataRailException"},
    {.flow = "detect sensitive data on output",
     .place = output,
     .action = "detect_sensitive_data",
     .task = "",
     .config = "sensitive_data_detection.output",
     .exception = "DetectSensitiveDataRailException"},
    {.flow = "detect sensitive data on retrieval",
     .place = retrieval,
     .action = "detect_sensitive_data",
     .task = "",
     .config = "sensitive_data_detection.retrieval",
     .exception = "DetectSensitiveDataRailException"},
    {.flow = "mask sensitive data on input",
     .place = input,
     .action = "mask_sensitive_data",
     .task = "",
     .config = "sensitive_data_detection.input",
     .alters = true},
    {.flow = "mask sensitive data on output",
     .place = output,
     .action = "mask_sensitive_data",
     .task = "",
     .config = "sensitive_data_detection.output",
     .alters = true},
    {.flow = "mask sensitive data on retrieval",
     .place = retrieval,
     .action = "mask_sensitive_data",
     .task = "",
     .config = "sensitive_data_detection.retrieval",
     .alters = true},
    {.flow = "regex check input",
     .place = input,
     .action = "detect_regex_pattern",
     .task = "",
     .config = "regex_detection.input",
     .exception = "RegexCheckInputRailException"},
    {.flow = "regex check output",
     .place = output,
     .action = "detect_regex_pattern",
     .task = "",
     .config = "regex_detection.output",
     .exception = "RegexCheckOutputRailException"},
    {.flow = "regex check retrieval",
     .place = retrieval,
     .action = "detect_regex_pattern",
     .task = "",
     .config = "regex_detection.retrieval",
     .exception = "RegexCheckRetrievalRailException"},
    {.flow = "regex redact input",
     .place = input,
     .action = "redact_regex_pattern",
     .task = "",
     .config = "regex_detection.input",
     .alters = true},
    {.flow = "regex redact output",
     .place = output,
     .action = "redact_regex_pattern",
     .task = "",
     .config = "regex_detection.output",
     .alters = true},
    {.flow = "regex redact retrieval",
     .place = retrieval,
     .action = "redact_regex_pattern",
     .task = "",
     .config = "regex_detection.retrieval",
     .alters = true},
    {.flow = "injection detection",
     .place = output,
     .action = "injection_detection",
     .task = "",
     .exception = "InjectionDetectionRailException",
     .alters = true},
    {.flow = "check length on input",
     .place = input,
     .action = "check_length",
     .task = "",
     .config = "length.input",
     .exception = "LengthRailException"},
    {.flow = "check length on output",
     .place = output,
     .action = "check_length",
     .task = "",
     .whole_answer = "it measures the whole answer",
     .config = "length.output",
     .exception = "LengthRailException"},
    {.flow = "check language on input",
     .place = input,
     .action = "check_language",
     .task = "",
     .config = "language.input",
     .exception = "LanguageRailException"},
    {.flow = "check language on output",
     .place = output,
     .action = "check_language",
     .task = "",
     .config = "language.output",
     .exception = "LanguageRailException"},
    {.flow = "check topic on input",
     .place = input,
     .action = "check_topic",
     .task = "",
     .asks = true,
     .config = "topic.input",
     .exception = "TopicRailException"},
    {.flow = "check tool calls",
     .place = tool_call,
     .action = "check_tool_calls",
     .task = "",
     .config = "tool_calls",
     .exception = "ToolCallGuardException"},
};

}  // namespace

std::span<const BuiltInRail> built_in_rails() { return rails; }

std::string_view list_of(RailPlace place) {
  switch (place) {
    case RailPlace::input:
      return "input";
    case RailPlace::output:
      return "output";
    case RailPlace::retrieval:
      return "retrieval";
    case RailPlace::tool_call:
      break;
  }
  return "tool_output";
}

const BuiltInRail* find_built_in_rail(std::string_view flow) {
  const auto* found = std::ranges::find(rails, flow, &BuiltInRail::flow);
  return found == std::end(rails) ? nullptr : found;
}

const BuiltInRail* find_built_in_action(std::string_view name) {
  const auto* found = std::ranges::find(rails, name, &BuiltInRail::action);
  return found == std::end(rails) ? nullptr : found;
}

const std::vector<std::string_view>& built_in_actions() {
  static const auto actions = [] {
    std::vector<std::string_view> out = {"retrieve_relevant_chunks", "create_event"};
    for (const BuiltInRail& each : rails) out.push_back(each.action);
    return out;
  }();
  return actions;
}

bool is_built_in_action(std::string_view name) {
  return std::ranges::find(built_in_actions(), name) != built_in_actions().end();
}

}  // namespace stackgate::guardrail
