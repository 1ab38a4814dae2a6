#include "services/evaluator/suite/harness/metrics.hpp"

#include <algorithm>
#include <cmath>

#include "services/evaluator/metrics/bleu.hpp"
#include "services/evaluator/metrics/likelihoods.hpp"
#include "services/evaluator/metrics/rouge.hpp"
#include "services/evaluator/metrics/words.hpp"
#include "services/evaluator/suite/harness/aggregation.hpp"
#include "services/evaluator/suite/mean_scores.hpp"

namespace stackgate::evaluator::harness {
namespace {

using O = OutputType;
using A = Aggregation;
constexpr std::array<MetricKind, 24> kinds = {{
    {"exact_match", O::generate_until, Metric::exact_match, Shape::number, A::mean, true, true},
    {"em", O::generate_until, Metric::em, Shape::number, A::mean, true, false},
    {"contains", O::generate_until, Metric::contains, Shape::number, A::mean, true, false},
    {"f1", O::generate_until, Metric::token_f1, Shape::number, A::mean, true, false},
    {"bleu", O::generate_until, Metric::bleu, Shape::bleu, A::bleu, true, false},
    {"chrf", O::generate_until, Metric::chrf, Shape::chrf, A::chrf, true, false},
    {"rouge1", O::generate_until, Metric::rouge1, Shape::number, A::mean, true, false},
    {"rouge2", O::generate_until, Metric::rouge2, Shape::number, A::mean, true, false},
    {"rouge3", O::generate_until, Metric::rouge3, Shape::number, A::mean, true, false},
    {"rougeL", O::generate_until, Metric::rouge_l, Shape::number, A::mean, true, false},
    {"rougeLsum", O::generate_until, Metric::rouge_lsum, Shape::number, A::mean, true, false},
    {"acc", O::multiple_choice, Metric::acc, Shape::number, A::mean, true, true},
    {"acc_norm", O::multiple_choice, Metric::acc_norm, Shape::number, A::mean, true, true},
    {"acc_bytes", O::multiple_choice, Metric::acc_bytes, Shape::number, A::mean, true, false},
    {"acc_mutual_info", O::multiple_choice, Metric::acc_mutual_info, Shape::number, A::mean, true, false},
    {"exact_match", O::multiple_choice, Metric::exact_match, Shape::number, A::mean, true, false},
    {"f1", O::multiple_choice, Metric::binary_f1, Shape::pair, A::f1, true, false},
    {"mcc", O::multiple_choice, Metric::matthews, Shape::pair, A::matthews_corrcoef, true, false},
    {"brier_score", O::multiple_choice, Metric::brier, Shape::number, A::mean, false, false},
    {"perplexity", O::loglikelihood, Metric::perplexity, Shape::number, A::perplexity, false, true},
    {"acc", O::loglikelihood, Metric::acc, Shape::number, A::mean, true, true},
    {"word_perplexity", O::loglikelihood_rolling, Metric::word_perplexity, Shape::weighted, A::weighted_perplexity,
     false, true},
    {"byte_perplexity", O::loglikelihood_rolling, Metric::byte_perplexity, Shape::weighted, A::weighted_perplexity,
     false, true},
    {"bits_per_byte", O::loglikelihood_rolling, Metric::bits_per_byte, Shape::weighted, A::bits_per_byte, false, true},
}};

bool same_words(std::string_view text, std::span<const std::string> references) {
  const Words own = squad_words(text);
  return std::ranges::any_of(references, [&](const std::string& each) { return squad_words(each) == own; });
}

double rouge_f(std::string_view text, std::span<const std::string> references, Rouge kind) {
  const auto scores = rouge_of(text, references);
  return scores ? scores->at(static_cast<std::size_t>(kind)).fmeasure : no_value;
}

void append_bleu(std::string_view text, std::span<const std::string> references, std::vector<double>& out) {
  const BleuCounts counts = count_bleu(text, references);
  for (const std::uint64_t each : counts.matches) out.push_back(static_cast<double>(each));
  for (const std::uint64_t each : counts.totals) out.push_back(static_cast<double>(each));
  out.push_back(static_cast<double>(counts.length));
  out.push_back(static_cast<double>(counts.reference_length));
}

/// Runs of characters only: sacreBLEU's default.
void append_chrf(std::string_view text, std::span<const std::string> references, std::vector<double>& out) {
  const ChrfCounts counts = count_chrf(text, references);
  for (const auto* each : {&counts.text, &counts.reference, &counts.matches})
    for (std::size_t i = 0; i < ChrfCounts::characters; ++i) out.push_back(static_cast<double>(each->at(i)));
}

/// The first of the greatest, as numpy's argmax.
template <class Value>
std::size_t greatest(std::size_t count, const Value& value) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < count; ++i)
    if (value(i) > value(best)) best = i;
  return best;
}

double brier_of(const Choices& choices) {
  const auto& logs = choices.loglikelihoods;
  const double most = *std::ranges::max_element(logs);
  double all = 0, out = 0;
  for (const double each : logs) all += std::exp(each - most);
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const double right = i == choices.gold.front() ? 1 : 0, given = std::exp(logs[i] - most) / all;
    out += (given - right) * (given - right);
  }
  return out;
}

bool is_gold(const Choices& choices, std::size_t choice) {
  return std::ranges::find(choices.gold, choice) != choices.gold.end();
}

}  // namespace

std::span<const MetricKind> metric_kinds() { return kinds; }

const MetricKind* metric_named(OutputType output, std::string_view name) {
  const auto found =
      std::ranges::find_if(kinds, [&](const MetricKind& each) { return each.output == output && each.name == name; });
  return found == kinds.end() ? nullptr : &*found;
}

std::size_t width_of(Shape shape) {
  switch (shape) {
    case Shape::number:
      return 1;
    case Shape::weighted:
    case Shape::pair:
      return 2;
    case Shape::bleu:
      return 10;
    case Shape::chrf:
      return 3 * ChrfCounts::characters;
  }
  return 1;
}

std::vector<std::string_view> aggregations_for(Shape shape) {
  switch (shape) {
    case Shape::number:
      return {"mean", "median", "perplexity"};
    case Shape::weighted:
      return {"weighted_perplexity", "bits_per_byte"};
    case Shape::pair:
      return {"f1", "matthews_corrcoef"};
    case Shape::bleu:
      return {"bleu"};
    case Shape::chrf:
      return {"chrf"};
  }
  return {};
}

void score_text(const MetricConfig& metric, std::string_view text, std::span<const std::string> references,
                std::vector<double>& out) {
  switch (metric.kind->metric) {
    case Metric::exact_match:
      return out.push_back(metric.match->matches(text, references) ? 1 : 0);
    case Metric::em:
      return out.push_back(same_words(text, references) ? 1 : 0);
    case Metric::contains:
      return out.push_back(
          std::ranges::any_of(references, [&](const std::string& each) { return text.contains(each); }) ? 1 : 0);
    case Metric::token_f1:
      return out.push_back(token_f1(text, references));
    case Metric::bleu:
      return append_bleu(text, references, out);
    case Metric::chrf:
      return append_chrf(text, references, out);
    case Metric::rouge1:
      return out.push_back(rouge_f(text, references, Rouge::one));
    case Metric::rouge2:
      return out.push_back(rouge_f(text, references, Rouge::two));
    case Metric::rouge3:
      return out.push_back(rouge_f(text, references, Rouge::three));
    case Metric::rouge_l:
      return out.push_back(rouge_f(text, references, Rouge::l));
    case Metric::rouge_lsum:
      return out.push_back(rouge_f(text, references, Rouge::lsum));
    default:
      return out.push_back(no_value);
  }
}

void score_choices(const MetricConfig& metric, const Choices& choices, std::vector<double>& out) {
  const auto& logs = choices.loglikelihoods;
  const ChoiceScores scores = choice_scores(choices.texts, logs, choices.gold);
  switch (metric.kind->metric) {
    case Metric::acc:
      return out.push_back(scores.acc);
    case Metric::acc_norm:
      return out.push_back(scores.acc_norm);
    case Metric::acc_bytes:
      return out.push_back(scores.acc_bytes);
    case Metric::acc_mutual_info:
      return out.push_back(
          is_gold(choices, greatest(logs.size(), [&](std::size_t i) { return logs[i] - choices.unconditional[i]; }))
              ? 1
              : 0);
    case Metric::exact_match:
      return out.push_back(std::ranges::any_of(choices.gold, [&](std::size_t i) { return choices.greedy[i]; }) ? 1 : 0);
    case Metric::binary_f1:
    case Metric::matthews:
      out.push_back(static_cast<double>(choices.gold.front()));
      return out.push_back(static_cast<double>(greatest(logs.size(), [&](std::size_t i) { return logs[i]; })));
    case Metric::brier:
      return out.push_back(brier_of(choices));
    default:
      return out.push_back(no_value);
  }
}

void score_likelihood(const MetricConfig& metric, double loglikelihood, bool greedy, std::vector<double>& out) {
  out.push_back(metric.kind->metric == Metric::acc ? (greedy ? 1 : 0) : loglikelihood);
}

void score_rolling(const MetricConfig& metric, std::string_view text, double loglikelihood, std::vector<double>& out) {
  const LikelihoodSums sums = likelihood_sums(text, loglikelihood, 0);
  out.push_back(loglikelihood);
  out.push_back(static_cast<double>(metric.kind->metric == Metric::word_perplexity ? sums.words : sums.bytes));
}

double shown(const MetricConfig& metric, std::span<const double> numbers) {
  switch (metric.kind->shape) {
    case Shape::number:
      return numbers[0];
    case Shape::pair:
      return numbers[0] == numbers[1] ? 1 : 0;
    case Shape::weighted:
    case Shape::bleu:
    case Shape::chrf:
      return statistic(metric.aggregation, numbers);
  }
  return no_value;
}

Score aggregated(const MetricConfig& metric, std::span<const std::vector<double>> values, std::size_t column,
                 std::optional<std::uint32_t> rounds) {
  const std::size_t width = width_of(metric.kind->shape);
  std::vector<std::vector<double>> rows;
  Score out{.metric = std::string(metric.kind->name), .higher_is_better = metric.higher_is_better};
  for (const std::vector<double>& each : values) {
    if (each.size() < column + width) continue;
    const auto numbers = std::span(each).subspan(column, width);
    if (std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); }))
      rows.emplace_back(numbers.begin(), numbers.end());
    else
      ++out.nan_count;
  }
  out.count = rows.size();
  if (metric.aggregation == Aggregation::mean) out.spread = spread_of(column_of(rows, 0));
  const Estimate estimate = estimate_of(metric.aggregation, std::move(rows), rounds);
  out.value = estimate.value;
  out.error = estimate.error;
  return out;
}

}  // namespace stackgate::evaluator::harness
