#include "services/evaluator/workflow/protocol/framework_results.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/evaluator/suite/results.hpp"
#include "services/evaluator/workflow/protocol/log_capture.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace framework_results_detail {

constexpr json::ParseLimits limits{.max_depth = 128, .max_bytes = largest_results};
constexpr std::size_t most_tasks = 1'000, most_scores = 10'000;
constexpr std::string_view error_mark = "_stderr";

/// lm-evaluation-harness's members about one task beside its results.
class HarnessReader {
 public:
  explicit HarnessReader(const json::Value& root) : root_(root) {}

  std::expected<std::vector<TaskResult>, std::string> read() const {
    std::vector<TaskResult> out;
    std::size_t scores = 0;
    for (const json::Member& each : json::members(&root_, {"results"})) {
      out.push_back(task(each));
      scores += out.back().scores.size();
      if (out.size() > most_tasks || scores > most_scores)
        return std::unexpected(fmt::format("they have more than {} tasks or {} scores", most_tasks, most_scores));
    }
    return out;
  }

 private:
  TaskResult task(const json::Member& from) const {
    const std::string_view name = from.key;
    TaskResult out{.name = std::string(name), .version = version(name)};
    out.num_fewshot =
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(json::integer(&root_, {"n-shot", name}), 0, UINT32_MAX));
    out.samples =
        static_cast<std::uint64_t>(std::max<std::int64_t>(json::integer(&root_, {"n-samples", name, "effective"}), 0));
    for (const json::Member& each : from.value.members()) {
      const std::size_t comma = each.key.find(',');
      if (comma == std::string_view::npos || each.key.substr(0, comma).ends_with(error_mark)) continue;
      out.scores.push_back(score(from.value, name, each, comma, out.samples));
      if (out.scores.size() > most_scores) break;
    }
    return out;
  }

  std::string version(std::string_view task) const {
    const json::Value value = json::value_at(&root_, {"versions", task});
    if (value.is_string()) return std::string(value.string());
    return value.is_number() ? json::to_json(value) : std::string();
  }

  Score score(const json::Value& of, std::string_view task, const json::Member& member, std::size_t comma,
              std::uint64_t samples) const {
    const std::string_view metric = member.key.substr(0, comma), filter = member.key.substr(comma + 1);
    const json::Value* error = of.find(fmt::format("{}{},{}", metric, error_mark, filter));
    const json::Value* higher = json::at(&root_, {"higher_is_better", task, metric});
    return {.metric = std::string(metric),
            .name = std::string(filter == "none" ? metric : member.key),
            .value = member.value.is_number() ? member.value.number() : no_value,
            .error = error != nullptr && error->is_number() ? error->number() : no_value,
            .count = samples,
            .higher_is_better = higher == nullptr || !higher->is_boolean() || higher->boolean()};
  }

  const json::Value& root_;
};

}  // namespace framework_results_detail

std::string without_nan(std::string_view json) {
  static constexpr std::array<std::string_view, 3> words = {"NaN", "Infinity", "-Infinity"};
  std::string out;
  out.reserve(json.size());
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (!in_string && (c == 'N' || c == 'I' || c == '-')) {
      const auto word = std::ranges::find_if(words, [&](auto each) { return json.substr(i).starts_with(each); });
      if (word != words.end()) {
        out += "null";
        i += word->size() - 1;
        continue;
      }
    }
    out += c;
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\' && i + 1 < json.size()) out += json[++i];
  }
  return out;
}

std::expected<std::vector<TaskResult>, std::string> read_framework_results(std::string_view text) {
  using namespace framework_results_detail;
  if (text.size() > largest_results)
    return std::unexpected(fmt::format("they are larger than {} MiB", largest_results >> 20U));
  const std::string clean = without_nan(text);
  json::Document document;
  const auto root = json::parse(clean, document, limits);
  if (!root) return std::unexpected(fmt::format("they are no JSON: {}", root.error().message));
  auto out = root->find("results") != nullptr ? HarnessReader(*root).read() : read_results(clean);
  if (out && out->empty()) return std::unexpected("they have no tasks: neither \"results\" nor \"tasks\"");
  return out;
}

}  // namespace stackgate::evaluator
