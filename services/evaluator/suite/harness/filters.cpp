#include "services/evaluator/suite/harness/filters.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/jinja/unicode.hpp"

namespace stackgate::evaluator::harness {
namespace {

std::string stripped(std::string_view text) { return std::string(jinja::strip_right(jinja::strip_left(text))); }

/// Of a pattern with several groups the first that has anything counts. Nothing: there is no such match.
std::optional<std::string> selected(const Pattern& pattern, std::string_view text, std::int64_t select) {
  const auto matches = pattern.find_all(text);
  const std::int64_t at = select < 0 ? std::ssize(matches) + select : select;
  if (at < 0 || at >= std::ssize(matches)) return std::nullopt;
  const auto& groups = matches[static_cast<std::size_t>(at)];
  const auto found = std::ranges::find_if(groups, [](const std::string& each) { return !each.empty(); });
  if (found == groups.end() && groups.size() > 1) return std::nullopt;
  return stripped(found == groups.end() ? std::string_view() : std::string_view(*found));
}

std::string without_ignored(const FilterStep& step, std::string_view text) {
  static const Pattern punctuation = Pattern::compile("\\p{P}").value();
  std::string out(text);
  for (const Pattern& each : step.ignored) out = each.replace(out, "");
  if (step.ignore_case) out = jinja::lower(out);
  if (step.ignore_punctuation) out = punctuation.replace(out, "");
  return out;
}

/// The pattern's match; else the text of a choice, as its letter "(B)"; else a letter behind a colon.
std::string choice_in(const FilterStep& step, const std::string& answer, const std::vector<std::string>& choices) {
  if (step.pattern)
    if (const auto found = selected(*step.pattern, answer, step.group_select); found && !found->empty()) return *found;
  constexpr std::size_t letters = 26;
  std::string texts, names;
  std::vector<std::pair<std::string, std::string>> letter_of;
  for (std::size_t i = 0; i < std::min(choices.size(), letters); ++i) {
    const char letter = static_cast<char>('A' + i);
    std::string text = without_ignored(step, stripped(choices[i]));
    texts += (i == 0 ? "" : "|") + escape_pattern(text);
    names += fmt::format("{}{}", i == 0 ? "" : "|", letter);
    letter_of.emplace_back(std::move(text), fmt::format("({})", letter));
  }
  if (const auto pattern = Pattern::compile(texts); pattern && !choices.empty())
    if (const auto found = selected(*pattern, without_ignored(step, answer), step.group_select);
        found && !found->empty()) {
      // Of equal choices the last one counts, as a dict has it.
      for (const auto& [text, letter] : std::vector(letter_of.rbegin(), letter_of.rend()))
        if (text == *found) return letter;
      return *found;
    }
  if (const auto pattern = Pattern::compile(fmt::format(":[\\s]*({})", names)); pattern && !choices.empty())
    if (const auto found = selected(*pattern, answer, step.group_select); found && !found->empty())
      return fmt::format("({})", *found);
  return step.fallback;
}

std::string mapped(const FilterStep& step, const std::string& answer) {
  for (const auto& [from, to] : step.mapping)
    if (from == answer) return to;
  return step.otherwise;
}

/// The one that is there most often, the first of equals.
std::string voted(const std::vector<std::string>& answers) {
  const auto votes = [&](const std::string& each) { return std::ranges::count(answers, each); };
  return *std::ranges::max_element(answers, {}, votes);
}

std::string one(const FilterStep& step, std::string answer, const std::vector<std::string>& choices) {
  switch (step.function) {
    case FilterStep::Function::regex:
      return selected(*step.pattern, answer, step.group_select).value_or(step.fallback);
    case FilterStep::Function::lowercase:
      return jinja::lower(answer);
    case FilterStep::Function::uppercase:
      return jinja::upper(answer);
    case FilterStep::Function::remove_whitespace:
      return answer.starts_with(' ') ? answer.substr(1) : answer;
    case FilterStep::Function::map:
      return mapped(step, answer);
    case FilterStep::Function::multi_choice_regex:
      return choice_in(step, answer, choices);
    case FilterStep::Function::take_first:
    case FilterStep::Function::take_first_k:
    case FilterStep::Function::majority_vote:
      break;
  }
  return answer;
}

}  // namespace

std::vector<std::string> filtered(const FilterPipeline& pipeline, std::vector<std::string> answers,
                                  const std::vector<std::string>& choices) {
  for (const FilterStep& step : pipeline.steps) {
    if (step.function == FilterStep::Function::take_first)
      answers.resize(1);
    else if (step.function == FilterStep::Function::take_first_k)
      answers.resize(std::min<std::size_t>(answers.size(), step.k));
    else if (step.function == FilterStep::Function::majority_vote)
      answers = {voted(answers)};
    else
      for (std::string& each : answers) each = one(step, std::move(each), choices);
  }
  return answers;
}

std::uint32_t left_of(const FilterPipeline& pipeline, std::uint32_t answers) {
  for (const FilterStep& step : pipeline.steps) {
    if (step.function == FilterStep::Function::take_first || step.function == FilterStep::Function::majority_vote)
      answers = 1;
    if (step.function == FilterStep::Function::take_first_k) answers = std::min(answers, step.k);
  }
  return answers;
}

}  // namespace stackgate::evaluator::harness
