#include "services/evaluator/runs/runner.hpp"

#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/run/startup.hpp"

namespace stackgate::evaluator {
namespace runner_detail {

constexpr std::string_view kind = "evaluation";
constexpr std::int64_t most_attempts =
    1'000;  // processes that ended count; an evaluation that kills each is no rare sight
constexpr std::chrono::seconds workflow_pause{30};
constexpr std::size_t owner_digits = 8;

std::string input_of(std::string_view id) {
  return json::object_text([&](json::Writer& w) { w.member("evaluation", id); });
}

std::string evaluation_of(std::string_view input) {
  json::Document document;
  const auto root = json::parse(input, document);
  return root ? std::string(json::text(&*root, {"evaluation"})) : std::string();
}

std::string error_of(std::string_view result) {
  json::Document document;
  const auto root = json::parse(result, document);
  const std::string_view error = root ? json::text(&*root, {"error"}) : std::string_view();
  return error.empty() ? "its job ended without a result" : std::string(error);
}

}  // namespace runner_detail

using namespace runner_detail;

Runner::Runner(sql::Database& database, RunnerOptions options, RunMetrics& metrics)
    : database_(database),
      records_(database),
      options_(std::move(options)),
      metrics_(metrics),
      queue_(database, crypto::random_hex(owner_digits), options_.lease) {}

void Runner::start(telemetry::Telemetry* telemetry) {
  telemetry_ = telemetry;
  worker_.emplace(queue_,
                  jobs::WorkerOptions{.kind = std::string(kind),
                                      .threads = options_.evaluations,
                                      .attempts = most_attempts,
                                      .heartbeat = std::chrono::milliseconds(options_.lease) / 4},
                  [this](jobs::Attempt& attempt) { return work(attempt); });
  started_ = true;
  sweeping_.emplace(std::chrono::milliseconds(0), [this](const std::stop_token&) {
    sweep();
    return options_.sweep;
  });
}

sql::Expected<void> Runner::submit(const std::string& id) {
  if (options_.run.fail) options_.run.fail("created");
  const auto job = TRY(queue_.enqueue(kind, input_of(id), id));
  if (options_.run.fail) options_.run.fail("queued");
  TRY(records_.set_job(id, job.id));
  if (started_) worker_->wake();
  return {};
}

sql::Expected<void> Runner::cancel(const Evaluation& evaluation) {
  (void)TRY(records_.move(evaluation.id, State::cancelling, "is being cancelled", "cancelling"));
  const auto state = TRY(evaluation.job.empty() ? sql::Expected<std::optional<jobs::State>>(std::nullopt)
                                                : queue_.cancel(evaluation.job));
  if (!evaluation.job.empty() && state && *state == jobs::State::running) return {};  // its worker ends it
  (void)TRY(records_.finish(evaluation.id, State::cancelled, "", ""));
  forgets_ = true;
  return {};
}

jobs::Outcome Runner::work(jobs::Attempt& attempt) {
  const RunEnd end = run_evaluation(
      records_, evaluation_of(attempt.job().input), options_.run, metrics_, telemetry_,
      [&] { return attempt.stop_requested(); }, [&] { return attempt.cancelled(); });
  run::trim_memory();
  if (end == RunEnd::ended) forgets_ = true;
  if (end == RunEnd::later) return {.kind = jobs::Outcome::Kind::again, .result = {}, .pause = workflow_pause};
  if (end == RunEnd::stopped)
    return {.kind = jobs::Outcome::Kind::again, .result = {}, .pause = std::chrono::seconds(1)};
  return {.kind = jobs::Outcome::Kind::succeeded, .result = {}};
}

/// Keys and answers that were deleted are out of the database's files, too.
void Runner::forget() {
  if (forgets_.exchange(false) && !database_.empty_log()) forgets_ = true;
}

void Runner::drop_unused_collections() {
  const VectorDatabase& database = options_.run.retrieval.database;
  if (database.url.empty()) return;
  const auto unused = records_.take_unused_collections();
  if (!unused) return;
  for (const std::string& each : *unused) {
    const auto dropped = drop_collection(database, each);
    if (dropped) continue;
    log::warning("a collection of vectors could not be dropped",
                 {{"collection", each}, {"reason", dropped.error().message}});
    (void)records_.put_back_collection(each);
  }
}

void Runner::sweep() {
  forget();
  drop_unused_collections();
  const auto left = records_.not_queued();
  if (!left) return;  // the database is away; the next round asks again
  for (const Evaluation& each : *left)
    if (const auto done = submit(each.id); !done)
      log::warning("an evaluation could not be queued", {{"evaluation", each.name}, {"reason", done.error().message}});
  for (const State state : {State::pending, State::running, State::cancelling}) sweep_state(state);
}

/// Those whose job has ended without them: it was cancelled or given up, and the process ended before it said so.
void Runner::sweep_state(State state) {
  const auto listed = records_.list({.state = state, .oldest_first = true, .limit = 200});
  if (!listed) return;
  for (const Evaluation& each : listed->rows) {
    if (each.job.empty()) continue;
    const auto job = queue_.read(each.job);
    if (!job || (*job && ((*job)->state == jobs::State::queued || (*job)->state == jobs::State::running))) continue;
    const bool cancelled = state == State::cancelling || (*job && (*job)->state == jobs::State::cancelled);
    const std::string why = cancelled ? std::string() : error_of(*job ? (*job)->result : "");
    (void)records_.finish(each.id, cancelled ? State::cancelled : State::failed, why, "");
  }
}

}  // namespace stackgate::evaluator
