#include "services/kit/json/write.hpp"

#include <cmath>

#include "services/evaluator/compare/compare.hpp"

namespace stackgate::evaluator {
namespace compare_write_detail {

void number(json::Writer& w, std::string_view name, double value) {
  std::isfinite(value) ? w.member(name, value) : w.member(name, nullptr);
}

void name_or_null(json::Writer& w, std::string_view key, const Comparison& of, std::optional<std::size_t> index) {
  index ? w.member(key, of.evaluations[*index]) : w.member(key, nullptr);
}

void write_difference(json::Writer& w, const Comparison& of, const ComparedScore::AgainstBaseline& row) {
  const Difference& difference = row.difference;
  w.object([&] {
    w.member("evaluation", of.evaluations[row.evaluation]);
    w.member("baseline", of.evaluations[of.baseline]);
    number(w, "delta", difference.delta);
    number(w, "stderr", difference.error);
    number(w, "low", difference.low);
    number(w, "high", difference.high);
    w.member("test", difference.test);
    number(w, "p_value", difference.p_value);
    w.member("items", difference.items);
    w.member("significant", difference.significant);
    w.member("verdict", std::string_view(difference.better > 0 ? "better" : difference.better < 0 ? "worse" : "tie"));
  });
}

void write_score(json::Writer& w, const Comparison& of, const ComparedScore& row) {
  w.object([&] {
    w.member("task", row.task);
    w.member("metric", row.metric);
    w.member("score", row.name);
    w.member("higher_is_better", row.higher_is_better);
    w.object("values", [&] {
      for (std::size_t i = 0; i < row.values.size(); ++i)
        w.object(of.evaluations[i], [&] {
          number(w, "value", row.values[i].value);
          number(w, "stderr", row.values[i].error);
          w.member("count", row.values[i].count);
        });
    });
    w.array("differences", [&] {
      for (const auto& each : row.differences) write_difference(w, of, each);
    });
    name_or_null(w, "winner", of, row.winner);
  });
}

void write_warning(json::Writer& w, const validate::Finding& finding) {
  w.object([&] {
    w.member("path", finding.path);
    w.member("problem", finding.problem);
    w.member("fix", finding.fix);
    w.member("rule", finding.rule);
  });
}

}  // namespace compare_write_detail

std::string to_json(const Comparison& comparison) {
  using namespace compare_write_detail;
  return json::object_text([&](json::Writer& w) {
    w.array("evaluations", [&] {
      for (const std::string& each : comparison.evaluations) w.value(each);
    });
    w.member("baseline", comparison.evaluations[comparison.baseline]);
    w.member("confidence", comparison.confidence);
    w.member("forced", comparison.forced);
    w.array("scores", [&] {
      for (const ComparedScore& each : comparison.scores) write_score(w, comparison, each);
    });
    w.object("overall", [&] {
      w.object("wins", [&] {
        for (std::size_t i = 0; i < comparison.wins.size(); ++i)
          w.member(comparison.evaluations[i], comparison.wins[i]);
      });
      w.member("ties", comparison.ties);
      name_or_null(w, "winner", comparison, comparison.winner);
    });
    w.array("warnings", [&] {
      for (const validate::Finding& each : comparison.warnings) write_warning(w, each);
    });
  });
}

}  // namespace stackgate::evaluator
