#include "services/evaluator/suite/results.hpp"

#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "services/evaluator/suite/groups.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace {

void number_or_null(json::Writer& w, std::string_view name, double value) {
  if (std::isfinite(value))
    w.member(name, value);
  else
    w.member(name, nullptr);
}

/// What NeMo's scores have beside their count, as far as it is known.
void write_spread(json::Writer& w, const Spread& spread) {
  for (const auto& [name, value] : {std::pair{"sum", spread.sum},
                                    {"mean", spread.mean},
                                    {"min", spread.least},
                                    {"max", spread.most},
                                    {"stddev", spread.deviation}})
    if (std::isfinite(value)) w.member(name, value);
}

void write_score(json::Writer& w, const Score& score) {
  w.object(score.name, [&] {
    number_or_null(w, "value", score.value);
    w.object("stats", [&] {
      w.member("count", score.count);
      write_spread(w, score.spread);
      w.member("nan_count", score.nan_count);
      number_or_null(w, "stderr", score.error);
    });
    w.member("higher_is_better", score.higher_is_better);
  });
  // As lm-evaluation-harness shows it; it has no direction, as nothing is better by it.
  if (!score.error_name.empty()) w.object(score.error_name, [&] { number_or_null(w, "value", score.error); });
}

/// Scores of one metric stand together.
void write_scores(json::Writer& w, std::span<const Score> scores) {
  w.object("metrics", [&] {
    for (std::size_t begin = 0; begin < scores.size();) {
      std::size_t end = begin;
      while (end < scores.size() && scores[end].metric == scores[begin].metric) ++end;
      w.object(scores[begin].metric, [&] {
        w.object("scores", [&] {
          for (; begin < end; ++begin) write_score(w, scores[begin]);
        });
      });
    }
  });
}

void write_task(json::Writer& w, const TaskResult& task) {
  w.object(task.name, [&] {
    write_scores(w, task.scores);
    w.member("version", task.version);
    w.member("num_fewshot", task.num_fewshot);
    w.object("samples", [&] {
      w.member("total", task.samples);
      w.member("failed", task.failed);
    });
  });
}

void write_group(json::Writer& w, const GroupResult& group) {
  w.object(group.name, [&] {
    write_scores(w, group.scores);
    if (!group.alias.empty()) w.member("alias", group.alias);
    w.member("version", group.version);
    w.array("tasks", [&] {
      for (const std::string& each : group.tasks) w.value(each);
    });
  });
}

}  // namespace

std::string results_json(std::span<const TaskResult> tasks, bool complete) {
  return json::object_text([&](json::Writer& w) {
    w.member("complete", complete);
    w.object("tasks", [&] {
      for (const TaskResult& each : tasks) write_task(w, each);
    });
    w.object("groups", [&] {
      for (const GroupResult& each : group_results(tasks)) write_group(w, each);
    });
  });
}

}  // namespace stackgate::evaluator
