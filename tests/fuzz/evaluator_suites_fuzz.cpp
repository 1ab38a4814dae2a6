// Rows of calls, conversations, trajectories and problems, and what models, judges and the runner answer: tasks that
// end, or findings. The first byte picks the suite; parts are parted by lines "@@": rows, answers.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/suite/calls/make_call_tasks.hpp"
#include "services/evaluator/suite/code/make_code_tasks.hpp"
#include "services/evaluator/suite/conversations/make_conversation_tasks.hpp"
#include "services/kit/json/parse.hpp"

using namespace stackgate;
using namespace stackgate::evaluator;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const unsigned suite = data[0] % 5U;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::size_t end = std::min(text.find("\n@@\n"), text.size());
  const std::string rows(text.substr(0, end)), answer(text.substr(std::min(end + 4, text.size())));

  EvaluationRequest request{.name = "e", .tasks = {"bfcl"}};
  request.judge = ModelEndpoint{};
  request.requests.chat = (data[0] & 0x80U) != 0;
  request.code.programs = 2;
  if (suite == 3) request.mt_bench.baseline = "base.jsonl";
  const DataSource source{.paths = {"base.jsonl", "possible_answer/rows.json", "reference_answer/x.jsonl", "rows.json"},
                          .text = [&](std::string_view) -> std::expected<std::string, std::string> { return rows; }};
  const auto made = [&] {
    switch (suite) {
      case 0:
        return make_call_tasks(request, source);
      case 1:
        request.tasks = {"agentic-eval"};
        return make_agent_tasks(request, source);
      case 2:
        request.tasks = {"humaneval"};
        return make_code_tasks(request, source);
      default:
        request.tasks = {"mt-bench"};
        return make_mt_bench_tasks(request, source);
    }
  };
  const auto tasks = made();
  if (!tasks) {
    if (tasks.error().empty()) std::abort();
    return 0;
  }
  json::Document document;
  for (const auto& task : *tasks) {
    std::vector<std::vector<double>> values;
    for (std::size_t sample = 0; sample < task->samples(); ++sample) {
      std::vector<Reply> replies;
      for (int round = 0;; ++round) {
        if (round > 20) std::abort();
        const auto asked = task->next(sample, replies);
        if (asked.empty()) break;
        for (std::size_t i = 0; i < asked.size(); ++i)
          if (replies.size() % 7 == 6)
            replies.push_back({.fault = "away"});
          else
            replies.push_back({.answer = Answer{.text = answer, .tool_calls = answer}});
      }
      Scored scored = task->score(sample, replies);
      if (!json::parse(scored.record, document) && json::parse(answer, document)) std::abort();
      if (scored.fault.empty()) values.push_back(std::move(scored.values));
    }
    (void)task->result(values, 0);
  }
  return 0;
}
