#include "services/evaluator/suite/groups.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace stackgate::evaluator {
namespace {

/// "exact_match,strict-match" is of the filter "strict-match"; "exact_match" is the only one there is.
bool counts(const GroupMetric& metric, const Score& score) {
  if (score.metric != metric.metric) return false;
  const std::size_t comma = score.name.find(',');
  if (metric.filters.empty() || comma == std::string::npos) return true;
  return std::ranges::find(metric.filters, score.name.substr(comma + 1)) != metric.filters.end();
}

/// One score of several tasks.
Score together(std::span<const Score* const> parts, bool by_size) {
  Score out{.metric = parts.front()->metric,
            .name = parts.front()->name,
            .value = 0,
            .higher_is_better = parts.front()->higher_is_better,
            .error_name = parts.front()->error_name};
  double weights = 0, pooled = 0;
  for (const Score* each : parts) {
    const auto size = static_cast<double>(each->count);
    const double weight = by_size ? size : 1;
    out.value += each->value * weight;
    weights += weight;
    pooled += (size - 1) * each->error * each->error * size;
    out.count += each->count;
    out.nan_count += each->nan_count;
  }
  out.value /= weights;
  // https://en.wikipedia.org/wiki/Pooled_variance of the samples; NaN where a task's is not known.
  const auto all = static_cast<double>(out.count);
  out.error = std::sqrt(pooled / (all - static_cast<double>(parts.size())) / all);
  return out;
}

std::vector<Score> scores_of(const TaskGroup& group, std::span<const TaskResult* const> tasks) {
  std::vector<Score> out;
  for (const GroupMetric& metric : group.metrics)
    for (const TaskResult* task : tasks)
      for (const Score& score : task->scores) {
        if (!counts(metric, score) || std::ranges::find(out, score.name, &Score::name) != out.end()) continue;
        std::vector<const Score*> parts;
        for (const TaskResult* other : tasks) {
          const auto same = std::ranges::find(other->scores, score.name, &Score::name);
          if (same != other->scores.end() && same->count > 0) parts.push_back(&*same);
        }
        if (!parts.empty()) out.push_back(together(parts, metric.weight_by_size));
      }
  std::ranges::stable_sort(out, {}, &Score::metric);  // those of one metric stand together
  return out;
}

}  // namespace

std::vector<GroupResult> group_results(std::span<const TaskResult> tasks) {
  std::vector<GroupResult> out;
  for (const TaskResult& first : tasks)
    for (const TaskGroup& group : first.groups) {
      if (std::ranges::find(out, group.name, &GroupResult::name) != out.end()) continue;
      std::vector<const TaskResult*> members;
      GroupResult result{.name = group.name, .alias = group.alias, .version = group.version};
      for (const TaskResult& task : tasks)
        if (std::ranges::find(task.groups, group.name, &TaskGroup::name) != task.groups.end()) {
          members.push_back(&task);
          result.tasks.push_back(task.name);
        }
      result.scores = scores_of(group, members);
      if (!result.scores.empty()) out.push_back(std::move(result));
    }
  return out;
}

}  // namespace stackgate::evaluator
