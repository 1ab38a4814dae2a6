#include "services/evaluator/score/score_line.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/evaluator/metrics/statistics.hpp"
#include "services/evaluator/score/scores.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/findings/nearest.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::evaluator {
namespace scoring {

void Scores::number(std::string_view name, double value) {
  if (std::isfinite(value))
    writer_.member(name, value);
  else
    writer_.member(name, nullptr);
}

void Scores::numbers(std::string_view name, std::span<const double> values) {
  writer_.array(name, [&] {
    for (const double each : values) std::isfinite(each) ? writer_.value(each) : writer_.value(nullptr);
  });
}

void Scores::mean(std::string_view name, std::span<const double> values) {
  const Mean mean = mean_of(values);
  number(name, mean.value);
  number(fmt::format("{}_stderr", name), mean.error);
}

constexpr std::array metrics = {
    Metric{"exact_match",
           {"regexes_to_ignore", "ignore_case", "ignore_punctuation", "ignore_numbers", "strip"},
           score_exact_match},
    Metric{"f1", {}, score_f1},
    Metric{"bleu", {"tokenize", "effective_order"}, score_bleu},
    Metric{"chrf", {"word_order"}, score_chrf},
    Metric{"rouge", {}, score_rouge},
    Metric{"string_check", {"operation"}, score_string_check},
    Metric{"perplexity", {}, score_perplexity},
    Metric{"multiple_choice", {}, score_multiple_choice},
    Metric{"pass_at_k", {"k"}, score_pass_at_k},
    Metric{"ranking", {"k"}, score_ranking},
    Metric{"tool_calls", {}, score_tool_calls},
};
constexpr auto metric_names = [] {
  std::array<std::string_view, metrics.size()> out;
  for (std::size_t i = 0; i < metrics.size(); ++i) out.at(i) = metrics.at(i).name;
  return out;
}();

Read<const Metric*> read_metric(const json::Value& line) {
  const json::Value* found = line.find("metric");
  if (found == nullptr || !found->is_string())
    return wrong_type(found, "metric", fmt::format("one of {}", fmt::join(metric_names, ", ")));
  const auto metric = std::ranges::find(metrics, found->string(), &Metric::name);
  if (metric != metrics.end()) return &*metric;
  // The name as it would be written among the known ones.
  if (const std::string_view near = validate::nearest(found->string(), metric_names); !near.empty())
    return fault("metric", fmt::format("is no metric; did you mean \"{}\"?", near));
  return fault("metric", fmt::format("is no metric; write one of {}", fmt::join(metric_names, ", ")));
}

Read<json::Value> read_params(const json::Value& line, const Metric& metric) {
  const json::Value* found = line.find("params");
  if (found == nullptr || found->is_null()) return json::Value();
  if (!found->is_object()) return wrong_type(found, "params", "an object");
  const auto end = std::ranges::find(metric.params, std::string_view());
  TRY(check_known(*found, "params.", std::span(metric.params.begin(), end)));
  return *found;
}

Read<std::vector<Item>> read_items(const json::Value& line) {
  const json::Value* found = line.find("items");
  if (found == nullptr || !found->is_array()) return wrong_type(found, "items", "a list of objects");
  std::vector<Item> out;
  for (std::size_t i = 0; i < found->items().size(); ++i) {
    const json::Value& each = found->items()[i];
    if (!each.is_object()) return wrong_type(&each, fmt::format("items[{}]", i), "an object");
    out.emplace_back(each, i);
  }
  return out;
}

Read<std::string> compute(const json::Value& line) {
  static constexpr std::array<std::string_view, 4> known = {"id", "metric", "params", "items"};
  if (!line.is_object()) return wrong_type(&line, "", R"(an object: {"id", "metric", "params", "items"})");
  TRY(check_known(line, "", known));
  const Metric* metric = TRY(read_metric(line));
  const json::Value params = TRY(read_params(line, *metric));
  const std::vector<Item> items = TRY(read_items(line));
  std::string text;
  json::Writer writer(text);
  Read<void> done;
  writer.object([&] {
    Scores out(writer);
    done = metric->compute(params, items, out);
  });
  if (!done) return std::unexpected(std::move(done.error()));
  return text;
}

std::string failed_line(const json::Value& id, const Fault& fault) {
  return json::object_text([&](json::Writer& w) {
    w.member("id", id);
    w.object("error", [&] {
      w.member("path", fault.path);
      w.member("message", fault.message);
    });
  });
}

}  // namespace scoring

std::span<const std::string_view> score_metrics() { return scoring::metric_names; }

std::string score_line(std::string_view line) {
  json::Document document;
  const auto root = json::parse(line, document, {.max_depth = 64, .max_bytes = longest_score_line});
  if (!root)
    return scoring::failed_line(
        {}, {"", fmt::format("is no JSON: {} at byte {}", root.error().message, root.error().offset + 1)});
  const json::Value* found = root->find("id");
  const json::Value id = found == nullptr ? json::Value() : *found;
  const auto scores = scoring::compute(*root);
  if (!scores) return scoring::failed_line(id, scores.error());
  return json::object_text([&](json::Writer& w) {
    w.member("id", id);
    w.key("scores");
    w.raw(*scores);
  });
}

std::string score_line_too_long() {
  return scoring::failed_line(
      {}, {"", fmt::format("is longer than {} MiB; write fewer items in a line", longest_score_line >> 20U)});
}

}  // namespace stackgate::evaluator
