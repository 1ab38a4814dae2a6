#include "services/evaluator/suite/harness/metric_reader.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/evaluator/suite/harness/setting_reader.hpp"

namespace stackgate::evaluator::harness {
namespace {

constexpr std::array<std::string_view, 4> ignoring = {"ignore_case", "ignore_punctuation", "ignore_numbers",
                                                      "regexes_to_ignore"};
constexpr std::array<std::string_view, 8> metric_keys = {"metric",         "aggregation",      "higher_is_better",
                                                         "hf_evaluate",    "ignore_case",      "ignore_punctuation",
                                                         "ignore_numbers", "regexes_to_ignore"};

std::vector<std::string_view> names_of(OutputType output) {
  std::vector<std::string_view> out;
  for (const MetricKind& each : metric_kinds())
    if (each.output == output) out.push_back(each.name);
  return out;
}

bool compares_texts(const MetricKind& kind) {
  return kind.metric == Metric::exact_match && kind.output == OutputType::generate_until;
}

class MetricReader {
 public:
  MetricReader(OutputType output, validate::Findings& findings) : output_(output), read_(findings) {}

  std::vector<MetricConfig> metrics(const std::optional<Node>& list) {
    std::vector<MetricConfig> out;
    for (const Node& each : read_.items(list, "[{metric: exact_match}]")) {
      auto metric = one(each);
      if (!metric) continue;
      if (std::ranges::find(out, metric->kind, &MetricConfig::kind) != out.end())
        read_.wrong(each, fmt::format("names {} once more", metric->kind->name), "name each metric once");
      else
        out.push_back(std::move(*metric));
    }
    if (!out.empty()) return out;
    for (const MetricKind& kind : metric_kinds())
      if (kind.output == output_ && kind.is_default) {
        MetricConfig metric{.kind = &kind, .aggregation = kind.aggregation, .higher_is_better = kind.higher_is_better};
        if (compares_texts(kind)) metric.match = ExactMatch::compile({}).value();
        out.push_back(std::move(metric));
      }
    return out;
  }

 private:
  std::optional<MetricConfig> one(const Node& at) {
    read_.known_keys(at, metric_keys, "a metric");
    const auto name = SettingReader::find(at, "metric");
    if (!name) {
      read_.wrong(at, "names no metric", "write metric: and a name");
      return std::nullopt;
    }
    const std::vector<std::string_view> names = names_of(output_);
    const auto found = read_.one_of(
        *name, names, fmt::format("metric of {} that is here", output_names.at(static_cast<std::size_t>(output_))));
    if (!found) return std::nullopt;
    const MetricKind& kind = *metric_named(output_, names[*found]);
    MetricConfig out{
        .kind = &kind,
        .aggregation = kind.aggregation,
        .higher_is_better = read_.flag(SettingReader::find(at, "higher_is_better"), kind.higher_is_better)};
    if (const auto node = SettingReader::find(at, "aggregation")) aggregation(*node, out);
    if (const auto node = SettingReader::find(at, "hf_evaluate");
        read_.flag(node, false) && kind.metric != Metric::exact_match)
      read_.warn(*node, fmt::format("names a Python library; {} is this service's own", kind.name), "leave it out");
    if (compares_texts(kind)) {
      match(at, out);
    } else {
      for (const std::string_view key : ignoring)
        if (const auto node = SettingReader::find(at, key))
          read_.wrong(*node, fmt::format("means nothing to {}", kind.name), "leave it out");
    }
    return out;
  }

  void aggregation(const Node& at, MetricConfig& out) {
    // Names of the harness that are the same here.
    if (at.value.string() == "nanmean" && out.kind->shape == Shape::number) return;
    if (at.value.string() == "brier_score" && out.kind->metric == Metric::brier) return;
    const std::vector<std::string_view> fitting = aggregations_for(out.kind->shape);
    const auto found = read_.one_of(at, fitting, fmt::format("aggregation of {}", out.kind->name));
    if (!found) return;
    out.aggregation =
        static_cast<Aggregation>(std::ranges::find(aggregation_names, fitting[*found]) - aggregation_names.begin());
  }

  void match(const Node& at, MetricConfig& out) {
    MatchOptions options{.ignore_case = read_.flag(SettingReader::find(at, "ignore_case"), false),
                         .ignore_punctuation = read_.flag(SettingReader::find(at, "ignore_punctuation"), false),
                         .ignore_numbers = read_.flag(SettingReader::find(at, "ignore_numbers"), false)};
    const auto patterns = SettingReader::find(at, "regexes_to_ignore");
    if (patterns) options.regexes_to_ignore = read_.texts(*patterns);
    auto compiled = ExactMatch::compile(options);
    if (!compiled) {
      read_.wrong(*patterns, compiled.error(), "write it without look-around and back references");
      compiled = ExactMatch::compile({});
    }
    out.match = std::move(*compiled);
  }

  OutputType output_;
  SettingReader read_;
};

}  // namespace

std::vector<MetricConfig> read_metrics(const std::optional<Node>& list, OutputType output,
                                       validate::Findings& findings) {
  return MetricReader(output, findings).metrics(list);
}

}  // namespace stackgate::evaluator::harness
