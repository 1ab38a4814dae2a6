#include "services/evaluator/runs/metrics.hpp"

#include <array>

namespace stackgate::evaluator {
namespace metrics_detail {

constexpr std::array<double, 10> run_bounds{1, 5, 15, 60, 300, 900, 3'600, 14'400, 43'200, 86'400};
constexpr std::array<double, 12> question_bounds{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120};
constexpr std::array<std::string_view, whom_count> who_names = {"model", "judge", "embedder", "retriever", "runner"};

}  // namespace metrics_detail

RunMetrics::RunMetrics(metrics::Registry& registry)
    : evaluations_(registry.counter("stackgate_evaluator_evaluations_total",
                                    "Evaluations that ended, by what became of them", {"state", "framework"})),
      running_(registry.gauge("stackgate_evaluator_running", "Evaluations that this replica works on").at()),
      seconds_(registry.histogram("stackgate_evaluator_evaluation_seconds", "From the first attempt's begin to the end",
                                  {"framework"}, metrics_detail::run_bounds)),
      samples_(registry.counter("stackgate_evaluator_samples_total", "Samples that are done", {"outcome"})),
      questions_(registry.counter("stackgate_evaluator_questions_total", "Questions put to models and others",
                                  {"whom", "outcome"})),
      question_seconds_(registry.histogram("stackgate_evaluator_question_seconds",
                                           "How long answers took, repetitions included", {"whom"},
                                           metrics_detail::question_bounds)),
      known_(registry.counter("stackgate_evaluator_known_answers_total", "Answers that were not asked for again").at()),
      tokens_(registry.counter("stackgate_evaluator_tokens_total",
                               "Tokens of questions and answers, as endpoints count", {"whom", "kind"})),
      stage_seconds_(registry.histogram("stackgate_evaluator_stage_seconds",
                                        "How long stages of evaluations took, with what they waited for", {"stage"},
                                        metrics_detail::run_bounds)) {}

void RunMetrics::ended(std::string_view state, std::string_view framework, std::chrono::duration<double> whole) {
  evaluations_.at({state, framework}).add();
  seconds_.at({framework}).observe(whole.count());
}

void RunMetrics::samples(std::uint64_t scored, std::uint64_t failed) {
  samples_.at({"scored"}).add(scored);
  samples_.at({"failed"}).add(failed);
}

void RunMetrics::question(Whom whom, std::string_view outcome, std::chrono::duration<double> took) {
  const std::string_view who = metrics_detail::who_names.at(static_cast<std::size_t>(whom));
  questions_.at({who, outcome}).add();
  question_seconds_.at({who}).observe(took.count());
}

void RunMetrics::tokens(Whom whom, std::uint64_t prompt, std::uint64_t completion) {
  const std::string_view who = metrics_detail::who_names.at(static_cast<std::size_t>(whom));
  if (prompt > 0) tokens_.at({who, "prompt"}).add(prompt);
  if (completion > 0) tokens_.at({who, "completion"}).add(completion);
}

void RunMetrics::stage(std::string_view name, std::chrono::duration<double> took) {
  stage_seconds_.at({name}).observe(took.count());
}

}  // namespace stackgate::evaluator
