#include "services/evaluator/compare/compare.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "services/evaluator/compare/comparable.hpp"

namespace stackgate::evaluator {
namespace compare_detail {

using validate::Findings;

const Score* find_score(const TaskResult* task, std::string_view metric, std::string_view name) {
  if (task == nullptr) return nullptr;
  for (const Score& each : task->scores)
    if (each.metric == metric && each.name == name) return &each;
  return nullptr;
}

class Comparer {
 public:
  Comparer(std::span<const Compared> compared, std::span<const ReadCompared> read, bool same_items, Comparison& out)
      : compared_(compared), read_(read), same_items_(same_items), out_(out) {}

  /// Of every task and score, in the order in which they come.
  void run() {
    out_.wins.assign(read_.size(), 0);
    for (std::size_t i = 0; i < read_.size(); ++i)
      for (const TaskResult& task : read_[i].tasks)
        for (const Score& score : task.scores)
          if (is_first_of(i, task.name, score)) compare_score(task.name, score);
    const auto most = std::ranges::max_element(out_.wins);
    if (most != out_.wins.end() && *most > 0 && std::ranges::count(out_.wins, *most) == 1)
      out_.winner = static_cast<std::size_t>(most - out_.wins.begin());
  }

 private:
  bool is_first_of(std::size_t evaluation, std::string_view task, const Score& score) const {
    for (std::size_t i = 0; i < evaluation; ++i)
      if (find_score(read_[i].find(task), score.metric, score.name) != nullptr) return false;
    return true;
  }

  void compare_score(const std::string& task, const Score& like) {
    ComparedScore row{
        .task = task, .metric = like.metric, .name = like.name, .higher_is_better = like.higher_is_better};
    std::size_t there = 0;
    for (const ReadCompared& each : read_) {
      const Score* found = find_score(each.find(task), like.metric, like.name);
      there += found != nullptr ? 1 : 0;
      row.values.push_back(found != nullptr ? *found : Score{.metric = like.metric, .name = like.name});
    }
    if (there < 2) return;
    for (std::size_t i = 0; i < read_.size(); ++i)
      if (i != out_.baseline) row.differences.push_back({i, difference(row, out_.baseline, i)});
    row.winner = winner(row);
    row.winner ? ++out_.wins[*row.winner] : ++out_.ties;
    out_.scores.push_back(std::move(row));
  }

  std::span<const double> samples(const ComparedScore& row, std::size_t evaluation) const {
    if (!same_items_) return {};
    const auto found = compared_[evaluation].samples.find(row.task);
    if (found == compared_[evaluation].samples.end()) return {};
    const std::vector<double>* column = found->second.find(row.values[evaluation]);
    return column == nullptr ? std::span<const double>() : std::span<const double>(*column);
  }

  Difference difference(const ComparedScore& row, std::size_t a, std::size_t b) const {
    return difference_of(row.values[a], row.values[b], samples(row, a), samples(row, b), out_.confidence,
                         out_.bootstrap_rounds);
  }

  /// The best one, if it differs from each other that has a value.
  std::optional<std::size_t> winner(const ComparedScore& row) const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      if (!std::isfinite(row.values[i].value)) continue;
      if (!best || (row.values[i].value > row.values[*best].value) == row.higher_is_better) best = i;
    }
    if (!best) return std::nullopt;
    std::size_t beaten = 0;
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      if (i == *best || !std::isfinite(row.values[i].value)) continue;
      if (difference(row, i, *best).better != 1) return std::nullopt;
      ++beaten;
    }
    return beaten > 0 ? best : std::nullopt;
  }

  std::span<const Compared> compared_;
  std::span<const ReadCompared> read_;
  bool same_items_;
  Comparison& out_;
};

void warn(Findings& findings, std::size_t index, std::string problem, std::string fix) {
  findings.push_back({.rule = "comparison-tasks",
                      .severity = validate::Severity::warning,
                      .path = fmt::format("evaluations[{}]", index),
                      .problem = std::move(problem),
                      .fix = std::move(fix)});
}

/// Tasks that some have and others do not.
void warn_of_missing(std::span<const Compared> compared, std::span<const ReadCompared> read, Findings& findings) {
  for (std::size_t i = 0; i < read.size(); ++i)
    for (const ReadCompared& other : read)
      for (const TaskResult& task : other.tasks) {
        const std::string problem = fmt::format("\"{}\" has no task {}", compared[i].name, task.name);
        if (read[i].find(task.name) == nullptr &&
            std::ranges::none_of(findings, [&](const auto& each) { return each.problem == problem; }))
          warn(findings, i, problem, "it is left out where a score needs it");
      }
}

std::expected<std::vector<ReadCompared>, Findings> read_all(std::span<const Compared> compared) {
  std::vector<ReadCompared> out;
  Findings findings;
  for (std::size_t i = 0; i < compared.size(); ++i) {
    auto read = read_compared(compared[i]);
    if (read)
      out.push_back(*std::move(read));
    else
      findings.push_back({.rule = "comparison-results",
                          .path = fmt::format("evaluations[{}]", i),
                          .problem = fmt::format("\"{}\": {}", compared[i].name, read.error()),
                          .fix = "evaluate it again"});
  }
  if (!findings.empty()) return std::unexpected(std::move(findings));
  return out;
}

}  // namespace compare_detail

std::expected<Comparison, validate::Findings> compare(const ComparisonRequest& request,
                                                      std::span<const Compared> compared) {
  using namespace compare_detail;
  const auto read = read_all(compared);
  if (!read) return std::unexpected(read.error());
  Comparison out{.confidence = request.confidence, .bootstrap_rounds = request.bootstrap_rounds};
  for (const Compared& each : compared) {
    if (each.name == request.baseline) out.baseline = out.evaluations.size();
    out.evaluations.push_back(each.name);
  }
  Findings differences = incomparable(compared, *read);
  const bool same_items = differences.empty();
  if (!same_items && !request.force) return std::unexpected(std::move(differences));
  out.forced = !same_items;
  for (validate::Finding& each : differences) {
    each.severity = validate::Severity::warning;
    each.fix = "the comparison was forced; its differences may come from this one";
    out.warnings.push_back(std::move(each));
  }
  warn_of_missing(compared, *read, out.warnings);
  Comparer(compared, *read, same_items, out).run();
  if (out.scores.empty())
    return std::unexpected(Findings{{.rule = "comparison-tasks",
                                     .path = "evaluations",
                                     .problem = "have no score in common",
                                     .fix = "compare evaluations of the same tasks"}});
  return out;
}

}  // namespace stackgate::evaluator
