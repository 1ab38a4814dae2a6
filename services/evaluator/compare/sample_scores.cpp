#include "services/evaluator/compare/sample_scores.hpp"

#include <cmath>

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::evaluator {
namespace sample_scores_detail {

constexpr std::size_t most_scores = 100;
constexpr std::int64_t most_samples = 1'000'000;
constexpr json::ParseLimits limits{.max_depth = 64, .max_bytes = 16U << 20U};

double number_of(const json::Value& value) {
  if (value.is_boolean()) return value.boolean() ? 1 : 0;
  return value.is_number() && std::isfinite(value.number()) ? value.number() : no_value;
}

}  // namespace sample_scores_detail

void SampleScores::put(std::string_view name, std::size_t number, double value) {
  if (std::isnan(value)) return;
  auto found = columns_.find(name);
  if (found == columns_.end()) {
    if (columns_.size() >= sample_scores_detail::most_scores) return;
    found = columns_.emplace(name, std::vector<double>()).first;
  }
  if (found->second.size() <= number) found->second.resize(number + 1, no_value);
  found->second[number] = value;
}

void SampleScores::add(std::int64_t number, std::string_view record) {
  using namespace sample_scores_detail;
  if (number < 0 || number >= most_samples) return;
  json::Document document;
  const auto root = json::parse(record, document, limits);
  if (!root) return;
  const auto index = static_cast<std::size_t>(number);
  for (const json::Member& each : json::members(&*root, {"scores"})) {
    put(each.key, index, number_of(each.value));
    for (const json::Member& inner : each.value.members()) put(inner.key, index, number_of(inner.value));
  }
}

const std::vector<double>* SampleScores::find(const Score& score) const {
  for (const std::string& name : {score.name, score.metric})
    if (const auto found = columns_.find(name); found != columns_.end()) return &found->second;
  return nullptr;
}

}  // namespace stackgate::evaluator
