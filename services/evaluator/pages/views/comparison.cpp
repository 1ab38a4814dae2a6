#include "services/evaluator/pages/views/comparison.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "services/kit/charts/charts.hpp"
#include "services/kit/html/words.hpp"

namespace stackgate::evaluator::pages {
namespace comparison_detail {

/// Scores of one name are on one scale: a chart for each, its tasks one below the other.
html::Html bars(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const ComparedScore& each : comparison.scores)
    if (std::ranges::find(names, each.name) == names.end()) names.push_back(each.name);
  const double z = normal_quantile(comparison.confidence);
  html::Html out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    charts::BarChart chart{.id = fmt::format("chart-{}", i),
                           .title = fmt::format("{} by task", names[i]),
                           .series = comparison.evaluations};
    for (const ComparedScore& each : comparison.scores) {
      if (each.name != names[i]) continue;
      charts::BarGroup group{.label = each.task};
      std::string words = each.task + ":";
      for (std::size_t j = 0; j < each.values.size(); ++j) {
        const Score& score = each.values[j];
        group.bars.push_back(
            {.value = score.value, .low = score.value - z * score.error, .high = score.value + z * score.error});
        words +=
            fmt::format("{} {} {}", j == 0 ? "" : ",", comparison.evaluations[j], charts::number_words(score.value));
      }
      chart.groups.push_back(std::move(group));
      chart.description += chart.description.empty() ? words : "; " + words;
    }
    out.put("<h3>{}</h3>{}", names[i], charts::bar_chart(chart));
  }
  return out;
}

html::Html verdict(const Difference& difference) {
  if (difference.better > 0) return html::piece(R"(<span class="good-ink">better</span>)");
  if (difference.better < 0) return html::piece(R"(<span class="bad-ink">worse</span>)");
  return html::piece(R"(<span class="quiet">no difference that counts</span>)");
}

std::string signed_words(double value) {
  return fmt::format("{}{}", value > 0 ? "+" : "", charts::number_words(value));
}

html::Html difference_rows(const Comparison& comparison) {
  html::Html out;
  for (const ComparedScore& score : comparison.scores)
    for (const auto& each : score.differences) {
      const Difference& difference = each.difference;
      html::Html interval;
      if (std::isfinite(difference.low))
        interval.put("{} to {}", signed_words(difference.low), signed_words(difference.high));
      out.put(
          R"(<tr><td>{}</td><td>{}</td><td>{}</td><td class="number">{}</td><td class="number">{}</td><td class="number">{}</td><td>{}</td><td>{}</td></tr>)",
          score.task, score.name, comparison.evaluations[each.evaluation], signed_words(difference.delta), interval,
          charts::number_words(difference.p_value), test_words(difference.test), verdict(difference));
    }
  return out;
}

html::Html winner_rows(const Comparison& comparison) {
  html::Html out;
  for (const ComparedScore& score : comparison.scores) {
    html::Html values;
    for (std::size_t i = 0; i < score.values.size(); ++i) {
      const html::Html value = value_words(score.values[i].value, score.values[i].error);
      score.winner == i ? values.put(R"(<td class="number win">{}</td>)", value)
                        : values.put(R"(<td class="number">{}</td>)", value);
    }
    out.put("<tr><td>{}</td><td>{}</td>{}<td>{}</td></tr>", score.task, score.name, values,
            score.winner ? std::string_view(comparison.evaluations[*score.winner]) : std::string_view("tie"));
  }
  return out;
}

html::Html heads(const Comparison& comparison) {
  html::Html out;
  for (const std::string& each : comparison.evaluations)
    out.put(R"(<th class="number"><a href="{}">{}</a></th>)", at_root.to(path_of(each)), each);
  return out;
}

std::string overall(const Comparison& comparison) {
  if (!comparison.winner)
    return fmt::format("No overall winner: {} of {} are ties.", comparison.ties,
                       html::counted(comparison.scores.size(), "score"));
  return fmt::format("{} wins {} of {}; {} are ties.", comparison.evaluations[*comparison.winner],
                     comparison.wins[*comparison.winner], html::counted(comparison.scores.size(), "score"),
                     comparison.ties);
}

html::Html list_of(const validate::Findings& findings) {
  html::Html items;
  for (const validate::Finding& each : findings)
    items.put("<li>{}. <span class=\"quiet\">{}.</span></li>", each.problem, each.fix);
  return html::piece("<ul>{}</ul>", items);
}

}  // namespace comparison_detail

std::string_view test_words(std::string_view test) {
  if (test == "mcnemar") return "McNemar’s test";
  if (test == "paired_bootstrap") return "paired bootstrap";
  if (test == "paired_normal") return "paired, normal";
  if (test == "normal") return "two means, normal";
  return "none: too little is known";
}

html::Html comparison_page(const Comparison& comparison) {
  using namespace comparison_detail;
  html::Html warnings;
  if (!comparison.warnings.empty())
    warnings.put(R"(<section class="notice"><h2>Warnings</h2>{}</section>)", list_of(comparison.warnings));
  const std::string confidence = fmt::format("{:.4g} %", 100 * comparison.confidence);
  return html::piece(
      R"(<p class="crumbs"><a href="{}">Evaluations</a></p><h1>Comparison</h1><p>{}</p>{}
<h2>Winners</h2><div class="wrap"><table class="scores"><thead><tr><th>Task</th><th>Score</th>{}<th>Winner</th></tr></thead><tbody>{}</tbody></table></div>
<p class="quiet">A winner is better than each other one at {} confidence; ± is the standard error.</p>
<h2>Scores</h2><p class="quiet">Error bars are intervals of {} confidence.</p>{}
<h2>Differences from {}</h2><div class="wrap"><table class="scores"><thead><tr><th>Task</th><th>Score</th><th>Evaluation</th><th class="number">Difference</th><th class="number">Interval</th><th class="number">p</th><th>Test</th><th>Verdict</th></tr></thead><tbody>{}</tbody></table></div>)",
      at_root.to("/"), overall(comparison), warnings, heads(comparison), winner_rows(comparison), confidence,
      confidence, bars(comparison), comparison.evaluations[comparison.baseline], difference_rows(comparison));
}

html::Html comparison_refused(const validate::Findings& findings, const html::Link& forcible) {
  html::Html force;
  if (!forcible.text.empty()) force.put(R"(<p><a class="button" href="{}">Compare nevertheless</a></p>)", forcible);
  return html::piece(
      R"(<p class="crumbs"><a href="{}">Evaluations</a></p><h1>These cannot be compared</h1><div class="notice bad" role="alert">{}</div>{})",
      at_root.to("/"), comparison_detail::list_of(findings), force);
}

}  // namespace stackgate::evaluator::pages
