// What a judge is asked about an answer and its contexts, and its JSON read with limits. Pure.
//
// The measures are those of ragas (https://docs.ragas.io/en/stable/concepts/metrics/), Es et al. 2023
// (arXiv:2309.15217); the prompts are ours. The texts of a sample stand between marks, as data.
#pragma once
#include <cstddef>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::evaluator {

inline constexpr std::size_t most_statements = 200;
inline constexpr std::size_t generated_questions = 3;

/// → {"statements": ["…", …]}: what an answer claims, each claim for itself.
std::string statements_prompt(std::string_view question, std::string_view answer);
/// → {"verdicts": [1, 0, …]}: whether the contexts say it.
std::string support_prompt(std::span<const std::string> contexts, std::span<const std::string> statements);
/// → {"noncommittal": 0, "questions": ["…", "…", "…"]}: what the answer answers.
std::string questions_prompt(std::string_view answer);
/// → {"useful": 1}: whether one context helps to arrive at the answer.
std::string usefulness_prompt(std::string_view question, std::string_view context, std::string_view answer);

struct GeneratedQuestions {
  bool is_noncommittal = false;
  std::vector<std::string> questions{};
};

// The first JSON object in an answer is read, whatever stands around it; what a model thought before "</think>" is left
// out. Errors are sentences: what the answer lacks. A verdict is 1, 0, true, false, "yes" or "no", or one of them as
// text.
template <class T>
using Judged = std::expected<T, std::string>;
Judged<std::vector<std::string>> read_statements(std::string_view answer);
Judged<std::vector<bool>> read_verdicts(std::string_view answer, std::size_t count);
Judged<GeneratedQuestions> read_questions(std::string_view answer);
Judged<bool> read_usefulness(std::string_view answer);
/// The embedder's: `count` numbers.
Judged<std::vector<double>> read_cosines(std::string_view answer, std::size_t count);

/// Mean of precision@k over the useful ones: of 1, 0, 1: (1/1 + 2/3) / 2. None useful: 0. no_value of no contexts.
double context_precision(const std::vector<bool>& useful);
/// How many of them hold; no_value of none at all.
double share_of(const std::vector<bool>& verdicts);

}  // namespace stackgate::evaluator
