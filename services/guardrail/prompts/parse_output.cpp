// What answers mean.
#include <algorithm>
#include <array>

#include "services/guardrail/prompts/history.hpp"
#include "services/guardrail/prompts/lines.hpp"
#include "services/guardrail/prompts/verdict.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/concat.hpp"

namespace stackgate::guardrail {
namespace {

/// Without reasoning; nothing when it does not end.
std::optional<std::string> without_reasoning(std::string_view answer) {
  constexpr std::string_view begin = "<think>";
  constexpr std::string_view end = "</think>";
  std::string out;
  for (;;) {
    const std::size_t at = answer.find(begin);
    out += answer.substr(0, at);
    if (at == std::string_view::npos) return out;
    const std::size_t close = answer.find(end, at);
    if (close == std::string_view::npos) return std::nullopt;
    answer.remove_prefix(close + end.size());
  }
}

bool takes_prefix(std::string_view& line, std::string_view prefix) {
  if (!ascii::equal_ignoring_case(line.substr(0, prefix.size()), prefix)) return false;
  line = trimmed(line.substr(prefix.size()));
  return true;
}

/// "User intent: x" → "  x", as the steps of Colang are written.
std::string steps_of(std::string_view answer) {
  struct Prefix {
    std::string_view words, step;
  };
  constexpr std::array<Prefix, 4> prefixes = {
      {{"User message:", "user "}, {"Bot message:", "  "}, {"User intent:", "  "}, {"Bot intent:", "bot "}}};
  std::string out;
  for (const std::string_view each : lines_of(trimmed(answer))) {
    if (!out.empty()) out += '\n';
    std::string_view line = trimmed(each);
    const auto* found = std::ranges::find_if(prefixes, [&](const Prefix& p) { return takes_prefix(line, p.words); });
    out += found == prefixes.end() ? std::string(line) : concat({found->step, line});
  }
  return out;
}

std::string_view first_line(std::string_view text) {
  text = trimmed(text);
  return trimmed(text.substr(0, text.find('\n')));
}

/// The name that a line gives, without what models write around it.
std::string name_in(std::string_view line, std::string_view prefix, std::string_view step) {
  line = trimmed(line);
  if (!takes_prefix(line, prefix) && line.starts_with(step)) line = trimmed(line.substr(step.size()));
  while (!line.empty() && (line.front() == '"' || line.front() == '`' || line.front() == '*')) line.remove_prefix(1);
  while (!line.empty() && std::string_view("\"`*.").contains(line.back())) line.remove_suffix(1);
  return std::string(trimmed(line));
}

std::string user_intent_in(std::string_view text) { return name_in(first_line(text), "User intent:", "user "); }

std::string bot_intent_in(std::string_view text) {
  for (const std::string_view each : lines_of(text)) {
    std::string_view line = trimmed(each);
    if (line.starts_with("bot ") || takes_prefix(line, "Bot intent:")) return name_in(each, "Bot intent:", "bot ");
  }
  return name_in(first_line(text), "Bot intent:", "bot ");
}

std::vector<std::string> next_steps_in(std::string_view text) {
  constexpr std::size_t most = 16;
  std::vector<std::string> out;
  for (const std::string_view each : lines_of(text)) {
    std::string_view line = trimmed(each);
    const bool is_text = line.starts_with('"') || takes_prefix(line, "Bot message:") ||
                         takes_prefix(line, "User message:") || line.starts_with("user \"");
    if (line.empty() || is_text) continue;
    const bool bot = line.starts_with("bot ") || takes_prefix(line, "Bot intent:");
    const bool user = !bot && (line.starts_with("user ") || takes_prefix(line, "User intent:"));
    if ((!bot && !user) || out.size() == most) break;
    // Some write the message behind the intent.
    line = line.substr(0, std::min(line.find('"'), line.find(',')));
    out.push_back(concat({bot ? "bot " : "user ", name_in(line, bot ? "bot " : "user ", "")}));
  }
  return out;
}

std::string bot_message_in(std::string_view text) {
  text = trimmed(text);
  takes_prefix(text, "Bot message:");
  // A model that goes on writes what comes next behind an empty line or in a new step.
  if (!text.starts_with('"')) return std::string(text);
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == '"' && (at + 1 == text.size() || text[at + 1] == '\n' || text[at + 1] == '\r'))
      return unquoted(text.substr(0, at + 1));
  }
  return unquoted(text.ends_with('"') ? text : text.substr(1));
}

std::string value_in(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with("```")) {
    const std::size_t line = text.find('\n');
    text = line == std::string_view::npos ? std::string_view() : text.substr(line + 1);
    text = trimmed(text.substr(0, text.find("```")));
  }
  if (text.starts_with('$')) {
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) text = text.substr(equals + 1);
  }
  return std::string(trimmed(text));
}

std::string meant_text(std::string_view parser, std::string_view task, std::string_view answer) {
  const bool as_steps = parser == "verbose_v1";
  std::string text = as_steps ? steps_of(answer) : std::string(trimmed(answer));
  if (parser == "user_intent" || task == "generate_user_intent") return user_intent_in(text);
  if (parser == "bot_intent" || task == "generate_next_steps") return bot_intent_in(text);
  if (parser == "bot_message" || task == "generate_bot_message") return bot_message_in(text);
  if (task == "generate_intent_steps_message") return steps_of(answer);
  if (task == "generate_value") return value_in(text);
  return text;
}

/// The parser of a check's answers; "" for tasks that are none.
std::string_view verdict_parser(std::string_view task) {
  if (task == "content_safety_check_input") return "nemoguard_parse_prompt_safety";
  if (task == "content_safety_check_output") return "nemoguard_parse_response_safety";
  if (task == "topic_safety_check_input") return "topic_safety";
  if (task.starts_with("self_check_") || task.starts_with("llama_guard_check_")) return "is_content_safe";
  return "";
}

bool yes_is_safe(std::string_view task) { return task == "self_check_facts" || task == "self_check_hallucination"; }

}  // namespace

Parsed parse_output(std::string_view parser, std::string_view task, std::string_view answer) {
  task = task.substr(0, task.find(" $"));
  const std::string_view meant = parser.empty() ? verdict_parser(task) : parser;
  const auto said = without_reasoning(answer);
  if (!said) return {};
  if (!is_verdict_parser(meant)) {
    Parsed out;
    out.text = meant_text(meant, task, *said);
    if (task == "generate_next_steps") out.steps = next_steps_in(*said);
    return out;
  }
  return verdict(meant, *said, yes_is_safe(task));
}

std::expected<Parsed, std::string> parsed_by_code(std::string_view task, const jinja::Value& made) {
  constexpr std::size_t most_categories = 100;
  task = task.substr(0, task.find(" $"));
  if (made.text() != nullptr) return parse_output({}, task, made.bytes());
  if (verdict_parser(task).empty()) return std::unexpected("it gives no text");
  const jinja::ListPtr* list = made.list();
  const bool* first = list == nullptr ? made.boolean() : (*list)->items.empty() ? nullptr : (*list)->items[0].boolean();
  if (first == nullptr) return std::unexpected("it gives neither true nor false, nor a list that begins with one");
  Parsed out{.safe = *first != yes_is_safe(task)};
  const auto add = [&](const jinja::Value& each) {
    if (each.text() != nullptr && out.categories.size() < most_categories) out.categories.emplace_back(each.bytes());
  };
  for (std::size_t i = 1; list != nullptr && i < (*list)->items.size(); ++i) {
    const jinja::Value& each = (*list)->items[i];
    add(each);
    if (each.list() != nullptr) std::ranges::for_each((*each.list())->items, add);
  }
  return out;
}

const std::vector<std::string_view>& known_parsers() {
  static const std::vector<std::string_view> parsers = {
      "verbose_v1",
      "is_content_safe",
      "user_intent",
      "bot_intent",
      "bot_message",
      "nemoguard_parse_prompt_safety",
      "nemoguard_parse_response_safety",
      "nemotron_reasoning_parse_prompt_safety",
      "nemotron_reasoning_parse_response_safety",
      "topic_safety",
  };
  return parsers;
}

IntentSteps read_intent_steps(std::string_view text) {
  IntentSteps out;
  const auto lines = lines_of(text);
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const std::string_view line = lines[at];
    const std::string_view bare = trimmed(line);
    if (bare.empty() || bare.starts_with("user \"")) continue;
    if (bare.starts_with("bot ")) {
      if (out.bot_intent.empty()) out.bot_intent = bot_intent_in(bare);
    } else if (bare.starts_with('"')) {
      if (out.bot_message.empty())
        out.bot_message = bot_message_in(text.substr(static_cast<std::size_t>(line.begin() - text.begin())));
      return out;
    } else if (out.user_intent.empty() && out.bot_intent.empty()) {
      out.user_intent = user_intent_in(bare);
    } else if (!out.bot_intent.empty() && out.bot_message.empty()) {
      out.bot_message = bot_message_in(bare);
    }
  }
  return out;
}

}  // namespace stackgate::guardrail
