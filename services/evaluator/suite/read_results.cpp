#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "services/evaluator/suite/results.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::evaluator {
namespace read_results_detail {

constexpr json::ParseLimits limits{.max_depth = 64, .max_bytes = 64U << 20U};
constexpr std::size_t most_tasks = 1'000, most_scores = 10'000;

double number_of(const json::Value* from) { return from != nullptr && from->is_number() ? from->number() : no_value; }

std::uint64_t count_of(const json::Value* from) {
  return from != nullptr && from->is_integer() ? static_cast<std::uint64_t>(std::max<std::int64_t>(from->integer(), 0))
                                               : 0;
}

class Reader {
 public:
  std::expected<std::vector<TaskResult>, std::string> read(const json::Value& root) {
    add(json::at(&root, {"tasks"}));
    add(json::at(&root, {"groups"}));
    if (out_.size() > most_tasks || scores_ > most_scores)
      return std::unexpected(fmt::format("they have more than {} tasks or {} scores", most_tasks, most_scores));
    return std::move(out_);
  }

 private:
  void add(const json::Value* tasks) {
    if (tasks == nullptr) return;
    for (const json::Member& each : tasks->members()) {
      if (out_.size() > most_tasks || scores_ > most_scores) return;
      const json::Value* fewshot = each.value.find("num_fewshot");
      TaskResult task{.name = std::string(each.key),
                      .version = std::string(json::text(&each.value, {"version"})),
                      .num_fewshot = static_cast<std::uint32_t>(std::min<std::uint64_t>(count_of(fewshot), UINT32_MAX)),
                      .samples = count_of(json::at(&each.value, {"samples", "total"})),
                      .failed = count_of(json::at(&each.value, {"samples", "failed"}))};
      for (const json::Member& metric : json::members(&each.value, {"metrics"}))
        add_scores(metric.key, json::members(&metric.value, {"scores"}), task.scores);
      scores_ += task.scores.size();
      out_.push_back(std::move(task));
    }
  }

  static void add_scores(std::string_view metric, std::span<const json::Member> members, std::vector<Score>& out) {
    const std::size_t first = out.size();
    for (const json::Member& each : members) {
      Score* of = scored_with(each.key, std::span(out).subspan(first));
      if (of == nullptr) {
        out.push_back(score_of(metric, each));
        continue;
      }
      of->error_name = each.key;
      if (std::isnan(of->error)) of->error = number_of(each.value.find("value"));
    }
  }

  /// The score before it whose error this is: "exact_match,strict" of "exact_match_stderr,strict".
  static Score* scored_with(std::string_view name, std::span<Score> before) {
    constexpr std::string_view mark = "_stderr";
    const std::size_t at = name.find(mark);
    if (at == std::string_view::npos) return nullptr;
    const std::string of = fmt::format("{}{}", name.substr(0, at), name.substr(at + mark.size()));
    for (Score& each : before)
      if (each.name == of) return &each;
    return nullptr;
  }

  static Score score_of(std::string_view metric, const json::Member& member) {
    const json::Value* higher = member.value.find("higher_is_better");
    const auto stat = [&](std::string_view name) { return number_of(json::at(&member.value, {"stats", name})); };
    return {.metric = std::string(metric),
            .name = std::string(member.key),
            .value = number_of(member.value.find("value")),
            .error = stat("stderr"),
            .count = count_of(json::at(&member.value, {"stats", "count"})),
            .nan_count = count_of(json::at(&member.value, {"stats", "nan_count"})),
            .higher_is_better = higher == nullptr || !higher->is_boolean() || higher->boolean(),
            .spread = {.sum = stat("sum"),
                       .mean = stat("mean"),
                       .least = stat("min"),
                       .most = stat("max"),
                       .deviation = stat("stddev")}};
  }

  /// "exact_match_stderr" beside "exact_match" is its error, as NeMo and lm-evaluation-harness show it.
  static void fold_errors(std::vector<Score>& scores) {
    constexpr std::string_view mark = "_stderr";
    for (std::size_t i = 0; i < scores.size();) {
      std::string of = scores[i].name;
      const std::size_t at = of.rfind(mark);
      if (at != std::string::npos) of.erase(at, mark.size());
      const auto found = at == std::string::npos ? scores.end() : std::ranges::find(scores, of, &Score::name);
      if (found == scores.end() || found->metric != scores[i].metric) {
        ++i;
        continue;
      }
      if (!std::isfinite(found->error)) found->error = scores[i].value;
      found->error_name = scores[i].name;
      scores.erase(scores.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  std::vector<TaskResult> out_{};
  std::size_t scores_ = 0;
};

}  // namespace read_results_detail

std::expected<std::vector<TaskResult>, std::string> read_results(std::string_view text) {
  json::Document document;
  const auto root = json::parse(text, document, read_results_detail::limits);
  if (!root)
    return std::unexpected(fmt::format("they are no JSON: {} at byte {}", root.error().message, root.error().offset));
  if (!root->is_object()) return std::unexpected("they are no JSON object");
  return read_results_detail::Reader().read(*root);
}

}  // namespace stackgate::evaluator
