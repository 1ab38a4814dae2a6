// The metrics of lm-evaluation-harness: what each makes of one sample, and of all of them. Pure.
// Source: lm_eval/api/metrics.py; scores of texts by evaluator/metrics.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/metrics/matching.hpp"
#include "services/evaluator/suite/task.hpp"

namespace stackgate::evaluator::harness {

enum class OutputType : std::uint8_t { generate_until, multiple_choice, loglikelihood, loglikelihood_rolling };
inline constexpr std::array<std::string_view, 4> output_names = {"generate_until", "multiple_choice", "loglikelihood",
                                                                 "loglikelihood_rolling"};

enum class Metric : std::uint8_t {
  exact_match,
  em,  // equal words by SQuAD's rules
  contains,
  token_f1,
  bleu,
  chrf,
  rouge1,
  rouge2,
  rouge3,
  rouge_l,
  rouge_lsum,
  acc,
  acc_norm,
  acc_bytes,
  acc_mutual_info,
  binary_f1,
  matthews,
  brier,
  perplexity,
  word_perplexity,
  byte_perplexity,
  bits_per_byte
};

enum class Aggregation : std::uint8_t {
  mean,
  median,
  perplexity,
  weighted_perplexity,
  bits_per_byte,
  f1,
  matthews_corrcoef,
  bleu,
  chrf
};
inline constexpr std::array<std::string_view, 9> aggregation_names = {
    "mean", "median", "perplexity", "weighted_perplexity", "bits_per_byte", "f1", "matthews_corrcoef", "bleu", "chrf"};

/// What a metric keeps of a sample: one number; a sum and its weight; the right choice and the chosen one; counts.
enum class Shape : std::uint8_t { number, weighted, pair, bleu, chrf };
std::size_t width_of(Shape shape);

struct MetricKind {
  std::string_view name;
  OutputType output;
  Metric metric;
  Shape shape;
  Aggregation aggregation;  // where the task does not say
  bool higher_is_better;
  bool is_default;  // of its output type, where the task names none
};
std::span<const MetricKind> metric_kinds();
const MetricKind* metric_named(OutputType output, std::string_view name);
/// Which aggregations fit.
std::vector<std::string_view> aggregations_for(Shape shape);

struct MetricConfig {
  const MetricKind* kind = nullptr;
  Aggregation aggregation{};
  bool higher_is_better = true;
  std::optional<ExactMatch> match{};  // of exact_match over texts
};

/// Of generate_until: a text against those that are right. Appends as many numbers as the shape is wide. Not for
/// metrics of other output types. A text too long to be compared has no score: NaN.
void score_text(const MetricConfig& metric, std::string_view text, std::span<const std::string> references,
                std::vector<double>& out);

struct Choices {
  std::vector<std::string> texts{};
  std::vector<double> loglikelihoods{}, unconditional{};  // the latter for acc_mutual_info
  std::vector<bool> greedy{};
  std::vector<std::size_t> gold{};
};
/// Of multiple_choice.
void score_choices(const MetricConfig& metric, const Choices& choices, std::vector<double>& out);

/// Of loglikelihood.
void score_likelihood(const MetricConfig& metric, double loglikelihood, bool greedy, std::vector<double>& out);
/// Of loglikelihood_rolling.
void score_rolling(const MetricConfig& metric, std::string_view text, double loglikelihood, std::vector<double>& out);

/// What one sample's numbers are shown as, NaN where a metric is of a corpus only: BLEU and chrF of the sample alone.
double shown(const MetricConfig& metric, std::span<const double> numbers);

/// The numbers of all samples, `width_of(shape)` of each at `column`. The error is the sample's deviation / √n for
/// means, and that of 1,000 samples drawn with replacement (100 for BLEU and chrF) for all else; the same values in
/// another order give the same one.
Score aggregated(const MetricConfig& metric, std::span<const std::vector<double>> values, std::size_t column,
                 std::optional<std::uint32_t> rounds = {});

}  // namespace stackgate::evaluator::harness
