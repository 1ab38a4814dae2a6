#include "services/kit/jobs/worker.hpp"

#include <exception>

#include <fmt/format.h>

#include "services/kit/json/write.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::jobs {
namespace {

std::string error_result(std::string_view message) {
  std::string out = "{\"error\":";
  json::append_quoted(out, message);
  return out + "}";
}

}  // namespace

Worker::Worker(Queue& queue, WorkerOptions options, Handler handler)
    : queue_(queue), options_(std::move(options)), handler_(std::move(handler)) {
  for (unsigned i = 0; i < options_.threads; ++i)
    threads_.push_back(
        std::make_unique<run::Periodic>(std::chrono::milliseconds(0), [this](const std::stop_token& stop) {
          while (!stop.stop_requested() && work(stop)) {
          }
          return options_.look;
        }));
}

void Worker::wake() {
  for (const auto& thread : threads_) thread->wake();
}

bool Worker::work(const std::stop_token& stop) {
  auto claimed = queue_.claim(options_.kind);
  if (!claimed) {
    log::warning("no job could be claimed", {{"kind", options_.kind}, {"reason", claimed.error().message}});
    return false;
  }
  if (!*claimed) return false;
  Attempt attempt(queue_, std::move(**claimed), stop);
  attempt.cancelled_ = attempt.job().cancel_requested;
  if (attempt.cancelled_) {
    conclude(attempt, {.kind = Outcome::Kind::failed, .result = attempt.job().result});
    return true;
  }
  if (attempt.job().attempts > options_.attempts) {
    conclude(attempt, {.kind = Outcome::Kind::failed,
                       .result = error_result(fmt::format("given up after {} attempts", options_.attempts))});
    return true;
  }
  Outcome outcome;
  {
    const run::Periodic heartbeat(options_.heartbeat, [&](const std::stop_token&) {
      const auto renewed = queue_.renew(attempt.job().id);  // a database that is away is met again at the next beat
      if (renewed && !renewed->ours) attempt.lost_ = true;
      if (renewed && renewed->cancel_requested) attempt.cancelled_ = true;
      return options_.heartbeat;
    });
    outcome = handle(attempt);
  }
  conclude(attempt, outcome);
  return true;
}

Outcome Worker::handle(Attempt& attempt) {
  try {
    return handler_(attempt);
  } catch (const std::exception& error) {
    log::error("a job's handler failed",
               {{"job", attempt.job().id}, {"kind", options_.kind}, {"reason", error.what()}});
    return {.kind = Outcome::Kind::failed, .result = error_result(error.what())};
  }
}

void Worker::conclude(const Attempt& attempt, const Outcome& outcome) {
  const std::string& id = attempt.job().id;
  if (attempt.lost_) return log::warning("a job was taken over by another replica", {{"job", id}});
  sql::Expected<bool> done = true;
  if (outcome.kind == Outcome::Kind::succeeded)
    done = queue_.finish(id, State::succeeded, outcome.result);
  else if (attempt.cancelled_)
    done = queue_.finish(id, State::cancelled, outcome.result);
  else if (attempt.stop_.stop_requested())
    done = queue_.put_back(id, std::chrono::seconds(0), false);  // no fault of the job's
  else if (outcome.kind == Outcome::Kind::again && attempt.job().attempts < options_.attempts)
    done = queue_.put_back(id, outcome.pause, true);
  else
    done = queue_.finish(id, State::failed, outcome.result);
  if (!done)  // its lease runs out, and it is done again
    log::warning("a job's end could not be stored", {{"job", id}, {"reason", done.error().message}});
}

}  // namespace stackgate::jobs
