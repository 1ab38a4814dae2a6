#include "services/evaluator/suite/harness/sample.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/jinja/from_value.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::evaluator::harness {
namespace {

std::expected<jinja::Value, std::string> value_of(const DataRow& row) {
  json::Document document;
  const auto root = json::parse(row.text, document);
  if (!root) return std::unexpected(root.error().message);
  auto value = jinja::from_json(*root);
  if (!value) return std::unexpected(value.error().message);
  return std::move(*value);
}

/// Numbers of the right choices.
std::expected<std::vector<std::size_t>, std::string> gold_of(const Doc& doc) {
  if (doc.choices.empty()) return std::unexpected("has no choices");
  std::vector<std::size_t> out;
  const auto add = [&](const jinja::Value& value) -> std::string {
    if (value.text() != nullptr) {
      const auto found = std::ranges::find(doc.choices, value.bytes());
      if (found == doc.choices.end())
        return fmt::format("has the target \"{}\", which is none of its choices", value.bytes().substr(0, 60));
      out.push_back(static_cast<std::size_t>(found - doc.choices.begin()));
      return {};
    }
    if (value.integer() == nullptr) return fmt::format("has a target of type {}", value.type_name());
    if (*value.integer() < 0 || *value.integer() >= std::ssize(doc.choices))
      return fmt::format("has the target {}, and {} choices, which count from 0", *value.integer(), doc.choices.size());
    out.push_back(static_cast<std::size_t>(*value.integer()));
    return {};
  };
  const jinja::Value& target = doc.has_many_contexts() ? doc.text : doc.target;
  const std::vector<jinja::Value> several = target.list() == nullptr ? std::vector{target} : (*target.list())->items;
  for (const jinja::Value& each : several)
    if (std::string fault = add(each); !fault.empty()) return std::unexpected(std::move(fault));
  if (out.empty()) return std::unexpected("has no target");
  return out;
}

/// Texts that are right.
std::expected<std::vector<std::string>, std::string> references_of(const Doc& doc) {
  std::vector<std::string> out;
  const std::vector<jinja::Value> several =
      doc.target.list() == nullptr ? std::vector{doc.target} : (*doc.target.list())->items;
  for (const jinja::Value& each : several) {
    if (each.integer() == nullptr || doc.choices.empty()) {
      out.push_back(python_text(each));
    } else if (*each.integer() < 0 || *each.integer() >= std::ssize(doc.choices)) {
      return std::unexpected(fmt::format("has the target {}, and {} choices", *each.integer(), doc.choices.size()));
    } else {
      out.push_back(doc.choices[static_cast<std::size_t>(*each.integer())]);
    }
  }
  if (out.empty()) return std::unexpected("has no target");
  return out;
}

bool wants_unconditional(const TaskConfig& config) {
  return std::ranges::any_of(config.metrics,
                             [](const MetricConfig& each) { return each.kind->metric == Metric::acc_mutual_info; });
}

std::vector<Pair> pairs_of(const TaskConfig& config, const Sample& sample) {
  std::vector<Pair> out;
  const auto add = [&](std::size_t context, std::string_view continuation) {
    auto [before, behind] = continued(sample.prompt.whole(context), continuation);
    out.push_back({std::move(before), std::move(behind)});
  };
  const std::string target = python_text(sample.doc.target);
  const std::string& delimiter = config.target_delimiter;
  if (config.output == OutputType::loglikelihood_rolling) return {{.context = "", .continuation = target}};
  if (config.output == OutputType::loglikelihood) {
    add(0, target);
    return out;
  }
  const bool many = sample.doc.has_many_contexts();
  for (std::size_t i = 0; i < sample.doc.choices.size(); ++i)
    add(many ? i : 0, delimiter + (many ? target : sample.doc.choices[i]));
  if (wants_unconditional(config))
    for (const std::string& choice : sample.doc.choices)
      out.push_back({.context = "", .continuation = delimiter + choice});
  return out;
}

std::expected<std::string, std::string> example_of(const TaskParts& parts, std::uint32_t row, std::string_view prefix) {
  const jinja::Value value = TRY(value_of(parts.examples.pool()->rows[row]));
  const Doc doc = TRY(parts.example_templates.of(value));
  return example_text(doc, {parts.config.target_delimiter, parts.config.fewshot_delimiter}, prefix);
}

}  // namespace

std::expected<Sample, std::string> sample_of(const TaskParts& parts, std::size_t sample, bool with_examples) {
  const DataRow& row = parts.rows->rows[sample];
  const jinja::Value value = TRY(value_of(row));
  Sample out;
  out.doc = TRY(parts.templates.of(value));
  switch (parts.config.output) {
    case OutputType::generate_until:
      out.references = TRY(references_of(out.doc));
      break;
    case OutputType::multiple_choice:
      out.gold = TRY(gold_of(out.doc));
      break;
    case OutputType::loglikelihood:
    case OutputType::loglikelihood_rolling:
      if (out.doc.target.text() == nullptr || out.doc.target.bytes().empty())
        return std::unexpected("has no text as its target");
      break;
  }
  if (parts.config.output != OutputType::loglikelihood_rolling) {
    std::string prefix = python_text(TRY(parts.gen_prefix.of(value)));
    std::vector<std::string> examples;
    if (with_examples)
      for (const std::uint32_t each : parts.examples.of(static_cast<std::uint32_t>(sample), row))
        examples.push_back(TRY(example_of(parts, each, prefix)));
    out.prompt = TRY(prompt_of(out.doc, python_text(TRY(parts.description.of(value))), examples,
                               {parts.config.target_delimiter, parts.config.fewshot_delimiter}, std::move(prefix)));
  }
  if (parts.config.output != OutputType::generate_until) out.pairs = pairs_of(parts.config, out);
  return out;
}

std::string fault_of(const TaskParts& parts, std::size_t sample) {
  const auto made = sample_of(parts, sample, false);  // examples are looked at once each
  if (!made) return made.error();
  const bool binary = std::ranges::any_of(
      parts.config.metrics, [](const MetricConfig& each) { return each.kind->metric == Metric::binary_f1; });
  if (binary && made->doc.choices.size() != 2)
    return fmt::format("has {} choices, and f1 is of two: the second one is what is looked for",
                       made->doc.choices.size());
  return {};
}

std::string fault_of_example(const TaskParts& parts, std::uint32_t row) {
  const auto made = example_of(parts, row, "");
  return made ? std::string() : "is an example that " + made.error();
}

}  // namespace stackgate::evaluator::harness
