// What a workflow server answers: streams do not depend on how they were split; objects, errors, logs and a framework's
// samples are read with limits.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "services/evaluator/workflow/protocol/framework_samples.hpp"
#include "services/evaluator/workflow/protocol/log_capture.hpp"
#include "services/evaluator/workflow/protocol/next_step.hpp"
#include "services/evaluator/workflow/protocol/result_stream.hpp"
#include "services/evaluator/workflow/protocol/workflow_object.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"

namespace {

using namespace stackgate;
using namespace stackgate::evaluator;

std::vector<std::string> read(std::string_view bytes, std::size_t part) {
  ResultStream stream;
  LogCapture log;
  std::vector<std::string> out;
  const auto take = [&](const json::Value& result) {
    out.push_back(json::to_json(result));
    const LogEntry entry = read_log_entry(result);
    log.add(entry.pod, entry.content, [](std::string_view line) {
      if (line.size() > longest_log_line) std::abort();
      const auto percent = percent_in(line);
      if (percent && (*percent < 0 || *percent > 100)) std::abort();
    });
    const WorkflowEvent event = read_event(result);
    if (event.workflow.message.size() > 2'000) std::abort();
    return true;
  };
  log.begin();
  bool goes_on = true;
  for (std::size_t at = 0; at < bytes.size() && goes_on; at += part)
    goes_on = stream.feed(bytes.substr(at, part), take);
  if (goes_on) (void)stream.finish(take);
  out.push_back(stream.fault());
  out.push_back(log.results().value_or("none"));
  if (log.tail().size() > 50) std::abort();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto whole = read(bytes, size == 0 ? 1 : size);
  for (const std::size_t part : {std::size_t{1}, std::size_t{7}})
    if (read(bytes, part) != whole) std::abort();
  for (const FrameworkSample& each :
       read_framework_samples({{"samples_t_2026-01-01T00-00-00.jsonl", std::string(bytes)}})) {
    json::Document record;
    if (each.task != "t" || each.number < 0 || !json::parse(each.record, record)) std::abort();
  }
  if (gateway_message(bytes).size() > 300) std::abort();
  json::Document document;
  if (const auto root = json::parse(bytes, document)) {
    WorkflowSituation situation{.workflow = read_workflow(*root), .name = "eval-1", .was_there = true};
    const auto& progress = situation.workflow->progress;
    if (progress && !(*progress >= 0 && *progress <= 100)) std::abort();
    (void)next_step(situation);
  }
  return 0;
}
