#include "services/evaluator/workflow/protocol/framework_samples.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "services/evaluator/workflow/protocol/framework_results.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace framework_samples_detail {

constexpr json::ParseLimits limits{.max_depth = 128, .max_bytes = 8U << 20U};
constexpr std::size_t most_samples = 10'000, most_scores = 100;
constexpr std::string_view beginning = "samples_", ending = ".jsonl";

/// What is shown of a sample, and its scores of all filters.
struct Lines {
  std::string item{}, prompt{}, output{}, reference{};  // JSON
  std::vector<std::pair<std::string, std::string>> scores{};
};

/// The first argument of the first question: its prompt.
json::Value prompt_in(const json::Value& line) {
  const json::Value arguments = json::value_at(&line, {"arguments"});
  // {"gen_args_0": {"arg_0": …}}, or a list of lists in older versions
  if (!arguments.members().empty()) {
    const auto inner = arguments.members().front().value.members();
    return inner.empty() ? json::Value() : inner.front().value;
  }
  if (arguments.items().empty()) return {};
  const json::Value& first = arguments.items().front();
  return first.items().empty() ? first : first.items().front();
}

/// A list of one is that one.
json::Value only_of(const json::Value& value) {
  return value.items().size() == 1 ? only_of(value.items().front()) : value;
}

void add_scores(const json::Value& line, Lines& lines) {
  const std::string_view filter = json::text(&line, {"filter"});
  for (const json::Value& each : json::items(&line, {"metrics"})) {
    const std::string_view metric = each.string();
    const json::Value* value = line.find(metric);
    if (metric.empty() || value == nullptr || lines.scores.size() >= most_scores) continue;
    std::string name = filter.empty() || filter == "none" ? std::string(metric) : fmt::format("{},{}", metric, filter);
    // A line that comes twice counts once.
    if (std::ranges::find(lines.scores, name, &std::pair<std::string, std::string>::first) != lines.scores.end())
      continue;
    // What a corpus is scored by has no number for a sample.
    const bool is_number = value->is_number() && std::isfinite(value->number());
    lines.scores.emplace_back(std::move(name), is_number || value->is_boolean() ? json::to_json(*value) : "null");
  }
}

std::string record_of(const Lines& lines) {
  return json::object_text([&](json::Writer& w) {
    const auto member = [&w](std::string_view name, const std::string& text) {
      if (text.empty() || text == "null") return;
      w.key(name);
      w.raw(text);
    };
    member("item", lines.item);
    member("prompt", lines.prompt);
    member("output_text", lines.output);
    member("reference", lines.reference);
    w.object("scores", [&] {
      for (const auto& [name, text] : lines.scores) {
        w.key(name);
        w.raw(text);
      }
    });
  });
}

std::map<std::int64_t, Lines> lines_of(std::string_view text) {
  std::map<std::int64_t, Lines> out;
  std::int64_t number = -1;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string clean = without_nan(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    json::Document document;
    const auto line = json::parse(clean, document, limits);
    if (!line || !line->is_object() || line->find("metrics") == nullptr) continue;
    const std::int64_t id = std::max<std::int64_t>(json::integer(&*line, {"doc_id"}, number), 0);
    if (out.size() >= most_samples && !out.contains(id)) continue;
    const auto [found, is_new] = out.try_emplace(id);
    if (is_new)
      found->second = {.item = json::to_json(json::value_at(&*line, {"doc"})),
                       .prompt = json::to_json(prompt_in(*line)),
                       .output = json::to_json(only_of(json::value_at(&*line, {"filtered_resps"}))),
                       .reference = json::to_json(json::value_at(&*line, {"target"}))};
    add_scores(*line, found->second);
  }
  return out;
}

}  // namespace framework_samples_detail

std::string_view task_of_samples(std::string_view file) {
  using namespace framework_samples_detail;
  if (file.starts_with(beginning)) file.remove_prefix(beginning.size());
  if (file.ends_with(ending)) file.remove_suffix(ending.size());
  const std::size_t time = file.rfind('_');
  // "…_2026-01-01T00-00-00.123"
  if (time == std::string_view::npos || time == 0 || time + 5 >= file.size() || file[time + 5] != '-') return file;
  return std::ranges::all_of(file.substr(time + 1, 4), ascii::is_digit) ? file.substr(0, time) : file;
}

std::vector<FrameworkSample> read_framework_samples(const std::map<std::string, std::string, std::less<>>& files) {
  using namespace framework_samples_detail;
  std::vector<FrameworkSample> out;
  for (const auto& [file, text] : files)
    for (const auto& [number, lines] : lines_of(text))
      out.push_back({.task = std::string(task_of_samples(file)), .number = number, .record = record_of(lines)});
  return out;
}

}  // namespace stackgate::evaluator
