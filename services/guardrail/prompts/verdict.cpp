#include "services/guardrail/prompts/verdict.hpp"

#include <algorithm>
#include <array>

#include "services/guardrail/prompts/history.hpp"
#include "services/guardrail/prompts/lines.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::size_t most_categories = 32;

/// Takes the next word of letters and digits, in lower case; empty at the end.
std::string next_word(std::string_view& text) {
  while (!text.empty() && !ascii::is_alphanumeric(text.front())) text.remove_prefix(1);
  std::size_t size = 0;
  while (size < text.size() && (ascii::is_alphanumeric(text[size]) || text[size] == '_')) ++size;
  const std::string word = ascii::to_lower(text.substr(0, size));
  text.remove_prefix(size);
  return word;
}

std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> out;
  while (!text.empty() && out.size() < most_categories) {
    const std::size_t end = text.find_first_of(separators);
    const std::string_view part = trimmed(text.substr(0, end));
    if (!part.empty()) out.emplace_back(part);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return out;
}

std::optional<bool> meaning(std::string_view word, bool yes_is_safe) {
  if (word == "yes") return yes_is_safe;
  if (word == "no") return !yes_is_safe;
  if (word == "safe") return true;
  if (word == "unsafe") return false;
  return std::nullopt;
}

/// What models write before their answer.
bool is_label(std::string_view word) {
  constexpr std::array<std::string_view, 8> labels = {"answer",   "verdict", "result",    "response",
                                                      "decision", "output",  "assistant", "final"};
  return std::ranges::find(labels, word) != labels.end();
}

Parsed first_word(std::string_view answer, bool yes_is_safe) {
  Parsed out;
  std::string_view rest = answer;
  std::string word = next_word(rest);
  if (is_label(word)) word = next_word(rest);
  const auto said = meaning(word, yes_is_safe);
  std::string_view behind = rest;
  const auto next = meaning(next_word(behind), yes_is_safe);
  if (!said || (next && *next != *said)) return out;
  out.safe = said;
  if (word == "unsafe") out.categories = split(rest, ", \t\r\n:;");
  return out;
}

/// The one object of an answer, which may stand in a block of Markdown.
std::string_view object_in(std::string_view answer) {
  answer = trimmed(answer);
  if (!answer.starts_with("```")) return answer;
  const std::size_t line = answer.find('\n');
  if (line == std::string_view::npos) return {};
  answer.remove_prefix(line + 1);
  return trimmed(answer.substr(0, answer.rfind("```")));
}

std::optional<bool> safety(std::string_view word) {
  if (ascii::equal_ignoring_case(trimmed(word), "safe")) return true;
  if (ascii::equal_ignoring_case(trimmed(word), "unsafe")) return false;
  return std::nullopt;
}

Parsed from_json(std::string_view answer, std::string_view key) {
  Parsed out;
  json::Document document;
  const auto root = json::parse(object_in(answer), document, {.max_depth = 8, .max_bytes = 1U << 20U});
  if (!root || !root->is_object()) return out;
  out.safe = safety(json::text_at(*root, key));
  if (out.safe.value_or(true)) return out;
  const json::Value* categories = root->find("Safety Categories");
  if (categories == nullptr) categories = root->find("Violated Categories");
  if (categories == nullptr) return out;
  out.categories = split(categories->string(), ",");
  for (const json::Value& each : categories->items())
    if (out.categories.size() < most_categories && each.is_string()) out.categories.emplace_back(each.string());
  return out;
}

/// "Prompt harm: unharmful" in a line of its own; said twice it says nothing.
Parsed from_lines(std::string_view answer, std::string_view key) {
  Parsed out;
  std::size_t count = 0;
  for (const std::string_view each : lines_of(answer)) {
    const std::string_view line = trimmed(each);
    if (!ascii::equal_ignoring_case(line.substr(0, key.size()), key)) continue;
    std::string_view rest = trimmed(line.substr(key.size()));
    if (!rest.starts_with(':')) continue;
    ++count;
    const std::string word = next_word(rest);
    out.safe = word == "unharmful" ? std::optional(true) : word == "harmful" ? std::optional(false) : std::nullopt;
  }
  if (count != 1) out.safe.reset();
  return out;
}

Parsed topic(std::string_view answer) {
  Parsed out;
  std::string_view rest = answer;
  const std::string first = next_word(rest);
  const std::string second = next_word(rest);
  if (second != "topic") return out;
  if (first == "on") out.safe = true;
  if (first == "off") out.safe = false;
  return out;
}

}  // namespace

bool is_verdict_parser(std::string_view parser) {
  return parser == "is_content_safe" || parser == "topic_safety" || parser.starts_with("nemoguard_parse_") ||
         parser.starts_with("nemotron_reasoning_parse_");
}

Parsed verdict(std::string_view parser, std::string_view answer, bool yes_is_safe) {
  Parsed out;
  if (parser == "nemoguard_parse_prompt_safety")
    out = from_json(answer, "User Safety");
  else if (parser == "nemoguard_parse_response_safety")
    out = from_json(answer, "Response Safety");
  else if (parser == "nemotron_reasoning_parse_prompt_safety")
    out = from_lines(answer, "Prompt harm");
  else if (parser == "nemotron_reasoning_parse_response_safety")
    out = from_lines(answer, "Response harm");
  else if (parser == "topic_safety")
    out = topic(answer);
  else
    out = first_word(answer, yes_is_safe);
  out.text = std::string(trimmed(answer));
  return out;
}

}  // namespace stackgate::guardrail
