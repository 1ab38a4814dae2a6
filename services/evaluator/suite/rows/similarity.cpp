#include "services/evaluator/suite/rows/similarity.hpp"

#include <algorithm>
#include <array>

#include "services/evaluator/metrics/bleu.hpp"
#include "services/evaluator/metrics/rouge.hpp"
#include "services/evaluator/metrics/words.hpp"
#include "services/evaluator/suite/mean_scores.hpp"

namespace stackgate::evaluator {
namespace {

/// The scores that a sample has by itself come first among its columns.
struct Shape {
  std::string_view metric;
  std::array<std::string_view, 4> own;  // "": no more
  std::size_t counts;                   // columns behind them
};
// Of a corpus' scores matches and lengths are kept, two in a column: how many runs a text has follows from its length.
constexpr std::size_t bleu_counts = 3, chrf_counts = 1 + ChrfCounts::characters / 2;
constexpr std::array<Shape, 6> shapes = {{
    {"accuracy", {"accuracy"}, 0},
    {"bleu", {"sentence_bleu_score"}, bleu_counts},
    {"rouge", {"rouge_1_score", "rouge_2_score", "rouge_3_score", "rouge_L_score"}, 0},
    {"em", {"em"}, 0},
    {"f1", {"f1"}, 0},
    {"chrf", {"sentence_chrf_score"}, chrf_counts},
}};
const Shape& shape_of(Similarity metric) { return shapes.at(static_cast<std::size_t>(metric)); }
std::size_t own_scores(const Shape& shape) {
  return static_cast<std::size_t>(std::ranges::find(shape.own, std::string_view()) - shape.own.begin());
}

/// Two counts as one number, each below 2²⁶: no answer and no row has so many characters.
constexpr std::uint64_t unit = std::uint64_t{1} << 26U;
double packed(std::uint64_t a, std::uint64_t b) { return static_cast<double>(a * unit + b); }
std::array<std::uint64_t, 2> unpacked(double both) {
  const auto number = static_cast<std::uint64_t>(both);
  return {number / unit, number % unit};
}
std::uint64_t runs_of(std::uint64_t length, std::size_t order) { return length < order ? 0 : length - order + 1; }

void score_bleu(std::string_view text, std::span<const std::string> references, std::vector<double>& out) {
  const BleuCounts counts = count_bleu(text, references);
  out.push_back(bleu_of(counts, true).score / 100);
  out.push_back(packed(counts.length, counts.reference_length));
  out.push_back(packed(counts.matches[0], counts.matches[1]));
  out.push_back(packed(counts.matches[2], counts.matches[3]));
}
double corpus_bleu(std::span<const std::vector<double>> values, std::size_t first) {
  BleuCounts sum;
  for (const std::vector<double>& each : values) {
    const auto [length, reference_length] = unpacked(each[first]);
    BleuCounts one{.length = length, .reference_length = reference_length};
    for (std::size_t i = 0; i < one.matches.size(); ++i) {
      one.matches.at(i) = unpacked(each[first + 1 + i / 2]).at(i % 2);
      one.totals.at(i) = runs_of(length, i + 1);
    }
    sum += one;
  }
  return bleu_of(sum, false).score / 100;
}

void score_chrf(std::string_view text, std::span<const std::string> references, std::vector<double>& out) {
  const ChrfCounts counts = count_chrf(text, references);
  out.push_back(chrf_of(counts) / 100);
  // Single characters are as many as the text is long, where the reference has any.
  out.push_back(packed(counts.text[0], counts.reference[0]));
  for (std::size_t i = 0; i < ChrfCounts::characters; i += 2)
    out.push_back(packed(counts.matches.at(i), counts.matches.at(i + 1)));
}
double corpus_chrf(std::span<const std::vector<double>> values, std::size_t first) {
  ChrfCounts sum;
  for (const std::vector<double>& each : values) {
    const auto [length, reference_length] = unpacked(each[first]);
    ChrfCounts one;
    for (std::size_t i = 0; i < ChrfCounts::characters; ++i) {
      one.reference.at(i) = runs_of(reference_length, i + 1);
      one.text.at(i) = one.reference.at(i) == 0 ? 0 : runs_of(length, i + 1);  // as count_chrf has it
      one.matches.at(i) = unpacked(each[first + 1 + i / 2]).at(i % 2);
    }
    sum += one;
  }
  return chrf_of(sum) / 100;
}

bool same_words(std::string_view text, std::span<const std::string> references) {
  const Words own = squad_words(text);
  return std::ranges::any_of(references, [&](const std::string& each) { return squad_words(each) == own; });
}

}  // namespace

std::optional<Similarity> similarity_named(std::string_view name) {
  const auto found = std::ranges::find(similarity_names, name);
  if (found == similarity_names.end()) return std::nullopt;
  return static_cast<Similarity>(found - similarity_names.begin());
}

Similarities::Similarities(std::vector<Similarity> wanted)
    : wanted_(std::move(wanted)), stripped_(ExactMatch::compile({.strip = true}).value()) {
  for (const Similarity each : wanted_) columns_ += own_scores(shape_of(each)) + shape_of(each).counts;
}

void Similarities::score(std::string_view text, std::span<const std::string> references, std::vector<double>& out,
                         std::vector<std::string>& faults) const {
  for (const Similarity metric : wanted_) switch (metric) {
      case Similarity::accuracy:
        out.push_back(stripped_.matches(text, references) ? 1 : 0);
        break;
      case Similarity::bleu:
        score_bleu(text, references, out);
        break;
      case Similarity::rouge: {
        const auto scores = rouge_of(text, references);
        if (!scores) faults.push_back("rouge: " + scores.error());
        for (const Rouge kind : {Rouge::one, Rouge::two, Rouge::three, Rouge::l})
          out.push_back(scores ? scores->at(static_cast<std::size_t>(kind)).fmeasure : no_value);
        break;
      }
      case Similarity::em:
        out.push_back(same_words(text, references) ? 1 : 0);
        break;
      case Similarity::f1:
        out.push_back(token_f1(text, references));
        break;
      case Similarity::chrf:
        score_chrf(text, references, out);
        break;
    }
}

std::vector<std::pair<std::string, double>> Similarities::named(std::span<const double> columns) const {
  std::vector<std::pair<std::string, double>> out;
  for (const Similarity metric : wanted_) {
    const Shape& shape = shape_of(metric);
    for (std::size_t i = 0; i < own_scores(shape); ++i) out.emplace_back(shape.own.at(i), columns[i]);
    columns = columns.subspan(own_scores(shape) + shape.counts);
  }
  return out;
}

void Similarities::results(std::span<const std::vector<double>> values, std::size_t first,
                           std::vector<Score>& out) const {
  for (const Similarity metric : wanted_) {
    const Shape& shape = shape_of(metric);
    const std::string name(shape.metric);
    const std::size_t counts = first + own_scores(shape);
    // The corpus' score is no mean, so it has no standard error.
    if (shape.counts > 0)
      out.push_back({.metric = name,
                     .name = name + "_score",
                     .value = values.empty()               ? no_value
                              : metric == Similarity::bleu ? corpus_bleu(values, counts)
                                                           : corpus_chrf(values, counts),
                     .count = values.size()});
    for (std::size_t i = 0; i < own_scores(shape); ++i)
      out.push_back(mean_score(name, std::string(shape.own.at(i)), column_of(values, first + i)));
    first = counts + shape.counts;
  }
}

}  // namespace stackgate::evaluator
