#include "services/customizer/job/next.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/customizer/job/words.hpp"

namespace stackgate::customizer {
namespace next_detail {

using Kind = Action::Kind;
using Objects = StageSight::Objects;

bool computes(const StageSight& sight) { return sight.objects == Objects::there && !is_final(sight.state); }

class Next {
 public:
  Next(Customization job, const Observed& observed, const Limits& limits)
      : before_(job), job_(std::move(job)), observed_(observed), limits_(limits) {}

  Step step() {
    const Action action = is_final(job_.state) ? after_the_end() : job_.state == State::cancelling ? cancel() : go_on();
    if (!(job_ == before_) && !is_final(before_.state)) job_.changed_at = observed_.now;
    return {std::move(job_), action};
  }

 private:
  StageRecord& record() { return job_.stage(stage_); }
  const StageSight& sight() const { return observed_.stage(stage_); }
  Action wait(Seconds at = 0) const { return {Kind::wait, stage_, at}; }

  Action after_the_end() {
    for (const Stage each : all_stages)
      if (computes(observed_.stage(each))) return {Kind::cancel, each};
    if (!observed_.leftovers) return {Kind::nothing};
    const Seconds keep = job_.state == State::failed ? std::max(limits_.keep, limits_.keep_failed) : limits_.keep;
    const Seconds until = job_.ended_at + keep;
    if (observed_.now < until) return wait(until);
    job_.cleared = true;  // stored before anything is deleted: a retry comes before that, or is refused
    return {Kind::clean_up};
  }

  Action finish(State state, std::string message) {
    job_.state = state;
    job_.message = std::move(message);
    job_.ended_at = observed_.now;
    return {Kind::finish, stage_};
  }

  Action cancel() {
    for (const Stage each : all_stages) {
      StageRecord& record = job_.stage(each);
      if (computes(observed_.stage(each))) {
        record.state = State::cancelling;
        return {Kind::cancel, each};
      }
      if (record.state != State::created && !is_final(record.state)) {
        record.state = State::cancelled;
        record.message.clear();
        record.ended_at = observed_.now;
      }
    }
    return finish(State::cancelled, {});
  }

  Action go_on() {
    for (const Stage each : all_stages) {
      if (job_.stage(each).state == State::completed) continue;
      stage_ = each;
      return show(record().state == State::created ? begin() : look());
    }
    return finish(State::completed, {});
  }

  /// The customization shows the state of the stage that it is in.
  Action show(Action action) {
    if (is_final(job_.state)) return action;
    job_.state = record().state == State::running ? State::running : State::pending;
    job_.message = record().message;
    return action;
  }

  Action begin() {
    StageRecord& now = record();
    if (observed_.now < now.not_before) return wait(now.not_before);
    ++now.attempts;
    now.state = State::pending;
    now.seen = false;
    now.created_at = now.waiting_since = observed_.now;
    return {Kind::create, stage_};
  }

  Action look() {
    if (stage_ == Stage::training && job_.trained && sight().state != State::running) return complete();
    switch (sight().objects) {
      case Objects::foreign:
        return fail(sight().message);
      case Objects::absent:
        // Stored, and perhaps not created: the process may have ended between the two.
        if (!record().seen) return create_again();
        return failed("its objects were deleted in the cluster", true);
      case Objects::there:
        break;
    }
    record().seen = true;
    switch (sight().state) {
      case State::completed:
        return stage_ == Stage::upload ? follow_adapter() : complete();
      case State::failed:
        return failed(sight().message, sight().may_retry);
      case State::running:
        return running();
      default:
        return pending();
    }
  }

  Action create_again() {
    if (const Seconds end = record().waiting_since + limits_.waiting; limits_.waiting != 0 && observed_.now >= end)
      return fail(did_not_start());
    return {Kind::create, stage_};
  }

  std::string did_not_start() {
    return fmt::format("it did not start within {}{}{}", duration_text(limits_.waiting),
                       record().message.empty() ? "" : ": ", record().message);
  }

  Action pending() {
    StageRecord& now = record();
    if (now.state == State::running) now.waiting_since = observed_.now;  // it was evicted
    now.state = State::pending;
    now.message = sight().message;
    if (const Seconds end = now.waiting_since + limits_.waiting; limits_.waiting != 0) {
      if (observed_.now >= end) return fail(did_not_start());
      return wait(end);
    }
    return wait();
  }

  Action running() {
    StageRecord& now = record();
    now.state = State::running;
    now.message = sight().message;
    if (now.started_at == 0) now.started_at = observed_.now;
    if (job_.started_at == 0) job_.started_at = observed_.now;
    return wait_for_end();
  }

  Action wait_for_end() {
    const Seconds limit = stage_ == Stage::download   ? limits_.download
                          : stage_ == Stage::training ? limits_.training
                                                      : limits_.upload;
    if (limit == 0) return wait();
    const Seconds end = record().started_at + limit;
    if (observed_.now >= end) return fail(fmt::format("it took longer than {} (timeout)", duration_text(limit)));
    return wait(end);
  }

  /// The Job has ended well: the entitystore has the adapter, and may still look at it.
  Action follow_adapter() {
    StageRecord& now = record();
    now.state = State::running;
    if (now.started_at == 0) now.started_at = observed_.now;
    switch (observed_.adapter) {
      case AdapterState::ready:
        return complete();
      case AdapterState::failed:
        return fail("the entitystore has refused the adapter");
      case AdapterState::pending:  // a person decides: no limit
        now.message = "the adapter waits for approval in the entitystore";
        return wait();
      case AdapterState::unknown:
      case AdapterState::uploading:
        now.message = "the entitystore stores the adapter";
        return wait_for_end();
    }
    return wait();
  }

  Action complete() {
    StageRecord& now = record();
    now.state = State::completed;
    now.message.clear();
    now.failures = 0;
    if (now.started_at == 0) now.started_at = observed_.now;
    now.ended_at = observed_.now;
    return go_on();
  }

  Action failed(std::string why, bool may_retry) {
    StageRecord& now = record();
    const std::uint32_t most = stage_ == Stage::training ? limits_.restarts : limits_.retries;
    if (!may_retry) return fail(std::move(why));
    if (now.failures >= most)
      return fail(most == 0 ? std::move(why) : fmt::format("{} ({} attempts)", why, now.failures + 1));
    const Seconds longer = limits_.pause << std::min<std::uint32_t>(now.failures, 16);
    now.not_before = observed_.now + std::min(longer, limits_.longest_pause);
    ++now.failures;
    now.state = State::created;
    now.message = fmt::format("{}; it is tried again ({} of {})", why, now.failures, most);
    return wait(now.not_before);
  }

  Action fail(std::string why) {
    StageRecord& now = record();
    now.state = State::failed;
    now.message = why;
    now.ended_at = observed_.now;
    if (stage_ == Stage::upload)
      return finish(State::failed, fmt::format("the adapter is trained, its upload has failed: {}; a retry uploads it "
                                               "without training again",
                                               why));
    return finish(State::failed,
                  fmt::format("{} has failed: {}", stage_ == Stage::training ? "the training" : "the download", why));
  }

  const Customization before_;
  Customization job_;
  const Observed& observed_;
  const Limits& limits_;
  Stage stage_ = Stage::download;
};

}  // namespace next_detail

Step next(Customization job, const Observed& observed, const Limits& limits) {
  return next_detail::Next(std::move(job), observed, limits).step();
}

Customization cancelled(Customization job, Seconds now) {
  if (is_final(job.state) || job.state == State::cancelling) return job;
  job.state = State::cancelling;
  job.message.clear();
  job.changed_at = now;
  return job;
}

std::expected<Customization, std::string> retried(Customization job, bool workspace_is_there, Seconds now) {
  if (job.state != State::failed)
    return std::unexpected(
        fmt::format("the customization is {}; only one that has failed can be tried again", to_string(job.state)));
  const auto failed = std::ranges::find(job.stages, State::failed, &StageRecord::state);
  if (failed == job.stages.end()) return std::unexpected("no stage of it has failed");
  if (failed != job.stages.begin() && (job.cleared || !workspace_is_there))
    return std::unexpected(
        "its workspace was removed, and what the earlier stages made went with it; create a new customization");
  failed->state = State::created;
  failed->failures = 0;
  failed->not_before = 0;
  failed->started_at = failed->ended_at = 0;
  failed->message.clear();
  job.state = State::pending;
  job.message.clear();
  job.cleared = false;
  job.ended_at = 0;
  job.changed_at = now;
  return job;
}

}  // namespace stackgate::customizer
