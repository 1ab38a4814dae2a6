#include "services/customizer/runs/runner.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "services/customizer/objects/names.hpp"
#include "services/kit/base/current_trace.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::customizer {
namespace runner_detail {

constexpr std::int64_t claimed_at_once = 1'000, shown_at_once = 100;
constexpr std::chrono::seconds always{60};  // what nobody reports is seen then
constexpr std::chrono::milliseconds again{1'000};

}  // namespace runner_detail

using namespace runner_detail;

Runner::Runner(Records& records, std::unique_ptr<Executor> executor, RunMetrics& metrics, RunnerOptions options)
    : records_(records),
      executor_(std::move(executor)),
      metrics_(metrics),
      options_(std::move(options)),
      stepper_(records, *executor_, metrics, options_.step) {}

Runner::~Runner() {
  executor_->on_change({});
  rounds_.reset();
  (void)records_.release(options_.owner);
}

void Runner::start() {
  rounds_.emplace(std::chrono::milliseconds(0), [this](const std::stop_token&) { return round(); });
  executor_->on_change([this] { wake(); });
}

void Runner::wake() {
  if (rounds_) rounds_->wake();
}

bool Runner::has_workspace(const Stored& stored) const { return executor_->has_workspace(work_of(stored)); }

std::expected<void, Error> Runner::clean_up(const Stored& stored) { return executor_->clean_up(work_of(stored)); }

/// Leases, three times while one lasts. False: the database is away.
bool Runner::share() {
  const auto now = Clock::now();
  if (has_shared_ && now - shared_at_ < std::chrono::milliseconds(options_.lease) / 3) return true;
  const auto kept = records_.renew(options_.owner, options_.lease);
  if (!kept) return false;
  // What is not in it was claimed by another replica, deleted or settled.
  std::erase_if(followed_, [&](const auto& each) {
    const bool is_lost = std::ranges::find(*kept, each.first) == kept->end();
    if (is_lost) executor_->forget(each.first);
    return is_lost;
  });
  for (const std::string& id : *kept) followed_.try_emplace(id);
  shared_at_ = now;
  has_shared_ = true;
  return true;
}

void Runner::take_changes() {
  const auto look_now = [this](const std::string& id) {
    if (const auto found = followed_.find(id); found != followed_.end()) found->second.look = {};
  };
  if (const auto claimed = records_.claim(options_.owner, options_.lease, claimed_at_once))
    for (const std::string& id : *claimed) followed_.insert_or_assign(id, Followed{});
  if (const auto woken = records_.take_woken(options_.owner))
    for (const std::string& id : *woken) look_now(id);
  for (const std::string& id : executor_->changed()) look_now(id);
}

std::vector<std::string> Runner::due(Clock::time_point now) const {
  std::vector<std::string> out;
  for (const auto& [id, each] : followed_)
    if (each.look <= now) out.push_back(id);
  return out;
}

void Runner::take_log(Work& work, const Seen& seen, Followed& followed) {
  const Customization& job = work.stored.job;
  for (const Stage each : all_stages) {
    const StageRecord& record = job.stage(each);
    const StageSight& sight = seen.stages.at(static_cast<std::size_t>(each));
    if (is_final(record.state) || record.attempts == 0 || sight.objects != StageSight::Objects::there) continue;
    if (sight.state == State::pending) continue;
    if (!followed.log.take(records_, *executor_, work, each, is_final(sight.state))) continue;
    if (auto fresh = records_.find(job.id); fresh && *fresh) work = work_of(std::move(**fresh));
  }
}

std::chrono::milliseconds Runner::log_look() const {
  return executor_->is_polled() ? options_.polled_look : options_.log_look;
}

/// The log of its stage that runs, from now on.
void Runner::begin_reading(Followed& followed, const Work& work) const {
  followed.reading.reset();
  if (is_final(work.stored.job.state)) return;
  for (const Stage each : all_stages)
    if (work.stored.job.stage(each).state == State::running)
      followed.reading = {.work = work, .stage = each, .next = Clock::now() + log_look()};
}

void Runner::read_logs() {
  for (auto& [id, each] : followed_) {
    if (!each.reading || each.reading->next > Clock::now()) continue;
    (void)each.log.take(records_, *executor_, each.reading->work, each.reading->stage, false);
    each.reading->next = Clock::now() + log_look();
  }
}

void Runner::look_again(Followed& followed, const NextLook& next, Seconds now) const {
  // What waits may have its turn, and its message changes.
  const std::chrono::milliseconds longest = executor_->is_polled() && !followed.reading ? options_.polled_look : always;
  const auto from_now = [&](std::chrono::milliseconds pause) { followed.look = Clock::now() + pause; };
  switch (next.kind) {
    case NextLook::Kind::at:
      return from_now(next.time == 0 ? longest
                                     : std::clamp<std::chrono::milliseconds>(std::chrono::seconds(next.time - now),
                                                                             std::chrono::milliseconds(0), longest));
    case NextLook::Kind::soon:
      return from_now(options_.polled_round);
    case NextLook::Kind::again:
    case NextLook::Kind::no_more:
      return from_now(again);
  }
}

void Runner::forget(const std::string& id) {
  executor_->forget(id);
  followed_.erase(id);
}

void Runner::look_at(const std::vector<std::string>& ids) {
  const auto now = records_.now();
  if (!now) return;
  std::vector<Work> works;
  for (const std::string& id : ids) {
    auto found = records_.find(id);
    if (!found) return;
    if (*found)
      works.push_back(work_of(std::move(**found)));
    else
      forget(id);
  }
  std::vector<const Work*> pointers;
  pointers.reserve(works.size());
  for (const Work& each : works) pointers.push_back(&each);
  auto seen = executor_->look(pointers);
  for (std::size_t i = 0; i < works.size(); ++i) {
    Work& work = works[i];
    Followed& followed = followed_[work.job.id];
    // What is logged, started and asked for it belongs to the request that created it.
    const TraceCopy trace(work.stored.traceparent);
    std::optional<TraceScope> scope;
    trace.enter(scope);
    if (seen[i]) take_log(work, *seen[i], followed);
    const std::string id = work.job.id;
    const NextLook next = stepper_.step(work, std::move(seen[i]), *now);
    if (next.kind == NextLook::Kind::no_more) {
      forget(id);
      continue;
    }
    begin_reading(followed, work);
    look_again(followed, next, *now);
  }
}

/// Until it is known what is there. Whose they are is left as it is: another replica may know more.
void Runner::show_why_they_wait() {
  const auto waiting = records_.waiting_without_reason(options_.owner, shown_at_once);
  if (!waiting) return;
  for (const std::string& id : *waiting)
    if (auto found = records_.find(id); found && *found) stepper_.cannot_begin(work_of(std::move(**found)), away_);
}

/// What is not known is not taken for absent.
bool Runner::can_look() {
  const auto available = executor_->available();
  const std::string why = available ? std::string() : available.error().message;
  if (why != away_ && !why.empty()) log::warning("customizations wait for where they run", {{"reason", why}});
  if (why != away_ && why.empty()) log::info("customizations go on");
  away_ = why;
  return why.empty();
}

/// Once: of what is made later, the row comes first. Whoever has lost a database may still have it elsewhere.
void Runner::report_orphans() {
  for (const std::string& id : executor_->ids()) {
    const auto found = records_.find(id);
    if (!found) return;
    if (!*found)
      log::warning("there are objects of a customization that is not in the database; they are left alone",
                   {{"id", id},
                    {"cure", fmt::format("look at them by the label {}={}, and delete them when they are "
                                         "no use any more",
                                         customization_label, id)}});
  }
  looks_for_orphans_ = false;
}

std::chrono::milliseconds Runner::round() {
  if (!share()) return options_.round;
  if (!can_look()) {
    show_why_they_wait();
    return options_.round;
  }
  if (looks_for_orphans_) report_orphans();
  take_changes();
  if (const auto ids = due(Clock::now()); !ids.empty()) look_at(ids);
  read_logs();
  auto pause = executor_->is_polled() ? options_.polled_round : options_.round;
  for (const auto& [id, each] : followed_)
    pause = std::min(pause, std::chrono::ceil<std::chrono::milliseconds>(each.look - Clock::now()));
  // Each round asks the database and the executor what has changed: looks that are due soon after each other share one.
  return std::max(pause, options_.polled_round);
}

}  // namespace stackgate::customizer
