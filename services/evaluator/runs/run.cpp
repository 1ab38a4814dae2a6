#include "services/evaluator/runs/run.hpp"

#include <fmt/format.h>

#include "services/evaluator/runs/native.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::evaluator {
namespace run_detail {

/// The stored request, with its keys.
std::expected<EvaluationRequest, std::string> read_request(std::string_view request, std::string_view secrets) {
  json::Document document, keys;
  const auto body = json::parse(request, document);
  if (!body) return std::unexpected("what was stored of it cannot be read");
  validate::Findings warnings;
  auto out = read_evaluation(*body, warnings);
  if (!out)
    return std::unexpected(fmt::format("what was stored of it is not valid any more: {}: {}", out.error().front().path,
                                       validate::to_line(out.error().front())));
  const auto known = json::parse(secrets, keys);
  const auto key = [&](std::string_view name) {
    return known ? std::string(json::text(&*known, {name})) : std::string();
  };
  out->target.api_key = key("model");
  if (out->judge) out->judge->api_key = key("judge");
  if (out->embeddings) out->embeddings->api_key = key("embeddings");
  return std::move(*out);
}

/// The final state, its event and figures. False: stopped before it could be stored.
bool finish(RunJournal& journal, const Evaluation& evaluation, const Conclusion& conclusion, std::string_view framework,
            RunMetrics& metrics) {
  bool ours = false;
  if (!journal.insist("finish", [&]() -> sql::Expected<void> {
        ours = TRY(journal.records().finish(journal.id(), conclusion.state, conclusion.message, conclusion.results));
        return {};
      }))
    return false;
  if (!ours) return true;  // it was in a final state, or is gone
  log::info("evaluation",
            {{"evaluation", evaluation.name}, {"event", to_string(conclusion.state)}, {"message", conclusion.message}});
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  metrics.ended(to_string(conclusion.state), framework,
                std::chrono::seconds(
                    evaluation.started_at == 0 ? 0 : std::max<std::int64_t>(now.count() - evaluation.started_at, 0)));
  return true;
}

}  // namespace run_detail

RunEnd run_evaluation(Records& records, std::string_view id, const RunOptions& options, RunMetrics& metrics,
                      telemetry::Telemetry* telemetry, const std::function<bool()>& stop,
                      const std::function<bool()>& cancelled) {
  using namespace run_detail;
  std::optional<Evaluation> evaluation;
  std::string secrets;
  RunJournal opening(records, std::string(id), std::string(id), stop, options.fail);
  if (!opening.insist("opened", [&]() -> sql::Expected<void> {
        evaluation = TRY(records.find_by_id(id));
        secrets = TRY(records.secrets(id));
        return {};
      }))
    return RunEnd::stopped;
  if (!evaluation || is_final(evaluation->state)) return RunEnd::ended;

  RunJournal journal(records, evaluation->id, evaluation->name, stop, options.fail);
  auto request = read_request(evaluation->request, secrets);
  const std::string framework(request ? to_string(request->framework) : "unknown");
  const auto end = [&](const Conclusion& conclusion) {
    return finish(journal, *evaluation, conclusion, framework, metrics) ? RunEnd::ended : RunEnd::stopped;
  };
  const Conclusion cancelled_here{.state = State::cancelled};
  // Asked to end: by now that is no reason not to store that it did.
  const auto end_cancelled = [&] {
    RunJournal last(records, evaluation->id, evaluation->name, [] { return false; }, options.fail);
    return finish(last, *evaluation, cancelled_here, framework, metrics) ? RunEnd::ended : RunEnd::stopped;
  };
  if (evaluation->state == State::cancelling) {
    // Its worker ended before it could stop the workflow.
    if (request && request->engine == Engine::workflow) (void)delete_workflow(id, options.workflow);
    return end_cancelled();
  }
  if (!request) return end({.state = State::failed, .message = request.error()});

  const bool is_first = evaluation->started_at == 0;
  telemetry::Work work =
      telemetry == nullptr ? telemetry::Work() : telemetry::Work(*telemetry, evaluation->traceparent);
  telemetry::Part whole(work, "evaluation",
                        {{"evaluation.name", evaluation->name},
                         {"evaluation.id", evaluation->id},
                         {"evaluation.framework", framework},
                         {"evaluation.again", !is_first}});
  if (!journal.runs("", is_first ? "running" : "runs again; what was answered is not asked again"))
    return RunEnd::stopped;
  metrics.begun();
  bool later = false;
  RunContext context{*evaluation, std::move(*request), options, metrics, journal, work, is_first, cancelled};
  const Conclusion conclusion =
      context.request.engine == Engine::native ? run_native(context) : run_as_workflow(context, later);
  metrics.left();
  whole.set("evaluation.state", std::string(conclusion.stopped ? "stopped" : to_string(conclusion.state)));
  if (!conclusion.stopped && conclusion.state == State::failed) whole.fail(conclusion.message);
  if (cancelled()) return end_cancelled();
  if (later && !stop()) return RunEnd::later;
  if (conclusion.stopped) return RunEnd::stopped;
  return end(conclusion);
}

}  // namespace stackgate::evaluator
