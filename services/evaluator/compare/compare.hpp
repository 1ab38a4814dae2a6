// Evaluations side by side: which one is better, and whether that is more than chance. Pure.
//
//   request, results, samples of each ─▶ comparable? ─▶ difference of each score ─▶ winners
#pragma once
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/compare/comparison_request.hpp"
#include "services/evaluator/compare/difference.hpp"
#include "services/evaluator/compare/sample_scores.hpp"
#include "services/evaluator/suite/task.hpp"
#include "services/kit/findings/finding.hpp"

namespace stackgate::evaluator {

/// An evaluation that is completed.
struct Compared {
  std::string name{};
  std::string request{};                                       // as records has it: api's to_json
  std::string results{};                                       // as suite/results writes them
  std::map<std::string, SampleScores, std::less<>> samples{};  // by task; what is missing is compared by its means
};

struct ComparedScore {
  std::string task{}, metric{}, name{};
  bool higher_is_better = true;
  std::vector<Score> values{};  // by evaluation; no_value: it does not have it
  struct AgainstBaseline {
    std::size_t evaluation = 0;
    Difference difference{};
  };
  std::vector<AgainstBaseline> differences{};  // of each evaluation but the baseline
  std::optional<std::size_t> winner{};         // better than each other by a difference that counts; nothing: a tie
};

struct Comparison {
  std::vector<std::string> evaluations{};
  std::size_t baseline = 0;
  double confidence = 0.95;
  std::uint32_t bootstrap_rounds = 2'000;
  bool forced = false;  // there were faults, and `force` let it go on
  validate::Findings warnings{};
  std::vector<ComparedScore> scores{};  // of tasks that at least two have
  std::vector<std::uint64_t> wins{};    // scores, by evaluation
  std::uint64_t ties = 0;
  std::optional<std::size_t> winner{};  // most wins, if nobody else has as many
};

/// `compared` in the order of the request. The findings: what makes them incomparable, unless it is forced; results
/// that cannot be read; no task in common.
std::expected<Comparison, validate::Findings> compare(const ComparisonRequest& request,
                                                      std::span<const Compared> compared);

/// The answer of POST /v1/comparisons: README.md. Numbers that are none are null.
std::string to_json(const Comparison& comparison);

}  // namespace stackgate::evaluator
