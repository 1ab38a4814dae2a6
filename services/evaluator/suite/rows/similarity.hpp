// How alike answers and references are, by NeMo's names of scores. All scores are 0 … 1. Pure and thread-safe.
#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/evaluator/metrics/matching.hpp"
#include "services/evaluator/suite/task.hpp"

namespace stackgate::evaluator {

/// Accuracy: the same text, white space at both ends aside; em: the same words after SQuAD's normalisation.
enum class Similarity : std::uint8_t { accuracy, bleu, rouge, em, f1, chrf };
inline constexpr std::array<std::string_view, 6> similarity_names = {"accuracy", "bleu", "rouge", "em", "f1", "chrf"};
std::optional<Similarity> similarity_named(std::string_view name);

/// A sample's columns: its own scores, and the counts of which those of the corpus are made.
class Similarities {
 public:
  explicit Similarities(std::vector<Similarity> wanted);

  std::size_t columns() const { return columns_; }
  /// Appends as many. What cannot be computed has no value, and `faults` says why.
  void score(std::string_view text, std::span<const std::string> references, std::vector<double>& out,
             std::vector<std::string>& faults) const;
  /// The sample's own scores by name, of its columns.
  std::vector<std::pair<std::string, double>> named(std::span<const double> columns) const;
  /// Of all samples, whose columns begin at `first`.
  void results(std::span<const std::vector<double>> values, std::size_t first, std::vector<Score>& out) const;

 private:
  std::vector<Similarity> wanted_;
  std::size_t columns_ = 0;
  ExactMatch stripped_;
};

}  // namespace stackgate::evaluator
