// The samples of a task, page by page: question, what was expected beside what was answered, scores. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/evaluator/pages/views/frame.hpp"

namespace stackgate::evaluator::pages {

/// Of a record, whichever suite wrote it: texts are "" where it has none of their names.
struct ShownSample {
  std::string question{};  // prompt, question, messages, arguments
  std::string expected{};  // reference, references, target, expected
  std::string answer{};    // output_text, response, answer, filtered_resps, resps
  std::string fault{};     // why it has no scores
  std::string reason{};    // what is wrong with the answer; the judge's words
  std::vector<std::pair<std::string, std::string>> scores{};
};
ShownSample read_shown_sample(std::string_view record);

struct SamplesView {
  const Evaluation& evaluation;
  std::span<const std::string> tasks{};  // of the evaluation
  std::string task{};
  std::span<const Sample> rows{};
  std::int64_t after = -1;  // what came before this page
  bool more = false;
};
html::Html samples_page(const SamplesView& view);

}  // namespace stackgate::evaluator::pages
