// Templates of a request over rows of a data set, and what models and judges answer: a task or findings, and never a
// text of a row or an answer that is read as a template. Parts are parted by lines "@@": a template, a judge's
// template, a pattern, the rows, the model's answer, the judge's.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/suite/rows/make_row_tasks.hpp"
#include "services/kit/json/parse.hpp"

using namespace stackgate;
using namespace stackgate::evaluator;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> parts;
  while (parts.size() < 5) {
    const std::size_t end = std::min(rest.find("\n@@\n"), rest.size());
    parts.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 4, rest.size()));
  }
  parts.emplace_back(rest);

  EvaluationRequest request{.name = "e", .framework = Framework::llm_as_judge, .tasks = {"rows"}};
  request.rows.prompt = parts[0];
  request.rows.reference = parts[0];
  request.rows.judge_prompt = parts[1];
  request.rows.scores = {{.name = "s", .pattern = parts[2]}};
  const DataSource source{
      .paths = {"rows.jsonl"},
      .text = [&](std::string_view) -> std::expected<std::string, std::string> { return parts[3]; }};
  const auto tasks = make_row_tasks(request, source);
  if (!tasks) {
    if (tasks.error().empty()) std::abort();
    for (const auto& each : tasks.error())
      if (each.path.empty() || each.problem.empty() || each.fix.empty()) std::abort();
    return 0;
  }
  const Task& task = *tasks->front();
  json::Document document;
  for (std::size_t sample = 0; sample < task.samples(); ++sample) {
    std::vector<Reply> replies;
    for (int round = 0;; ++round) {
      if (round > 3) std::abort();
      const auto asked = task.next(sample, replies);
      if (asked.empty()) break;
      for (const Asked& each : asked)
        replies.push_back({.answer = Answer{.text = parts[each.whom == Whom::judge ? 5 : 4]}});
    }
    if (!json::parse(task.score(sample, replies).record, document)) std::abort();
  }
  return 0;
}
