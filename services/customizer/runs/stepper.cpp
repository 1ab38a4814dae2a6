#include "services/customizer/runs/stepper.hpp"

#include <array>

#include <fmt/format.h>

#include "services/customizer/api/adapter.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::customizer {
namespace stepper_detail {

using Kind = Action::Kind;

constexpr Seconds person_pause = 5;  // whoever approves an adapter may take days
constexpr int most_moves = 12;       // of one look: three stages begun, seen and left are nine

/// The stage that it is in: all before it are completed.
Stage stage_of(const Customization& job) {
  for (const Stage each : all_stages)
    if (job.stage(each).state != State::completed) return each;
  return Stage::upload;
}

void warn(const Work& work, std::string_view what, const Error& error) {
  log::warning("a customization could not be moved on",
               {{"customization", work.stored.job.name}, {"action", what}, {"reason", error.message}});
}

std::string_view word_of(Kind kind) {
  constexpr std::array<std::string_view, 6> words = {"wait", "create", "cancel", "finish", "clean_up", "nothing"};
  return words.at(static_cast<std::size_t>(kind));
}

}  // namespace stepper_detail

using namespace stepper_detail;

Observed Stepper::observe(const Work& work, const Seen& seen, Seconds now) {
  Observed out{.now = now, .stages = seen.stages, .leftovers = seen.leftovers};
  const Customization& job = work.stored.job;
  if (is_final(job.state) || stage_of(job) != Stage::upload || seen.stages.back().state != State::completed) return out;
  const auto state = options_.ask_adapter(output_model_of(job, work.request));
  if (state) {
    out.adapter = *state;
  } else {
    metrics_.failed_call("entitystore");
    warn(work, "ask for the adapter", state.error());
  }
  return out;
}

std::expected<void, Error> Stepper::act(const Work& work, const Action& action, const Seen& seen) {
  switch (action.kind) {
    case Kind::create:
      TRY(executor_.create(work, action.stage));
      note("created");
      return {};
    case Kind::cancel:
      TRY(executor_.cancel(work, action.stage));
      note("cancelled");
      return {};
    case Kind::clean_up:
      TRY(executor_.clean_up(work));
      note("cleaned");
      return {};
    case Kind::wait: {
      const StageSight& sight = seen.stages.at(static_cast<std::size_t>(action.stage));
      if (sight.objects == StageSight::Objects::there && sight.state == State::pending)
        return executor_.advance(work, action.stage);
      return {};
    }
    case Kind::finish:
    case Kind::nothing:
      return {};
  }
  return {};
}

/// It stays in the record until its objects show something else.
void Stepper::show_why(const Work& work, Stage stage, std::string_view why) {
  Customization job = work.stored.job;
  job.stage(stage).message = job.message = fmt::format("it cannot begin yet: {}", why);
  if (!(job == work.stored.job)) (void)records_.store(work.stored, job);
}

void Stepper::cannot_begin(const Work& work, std::string_view why) { show_why(work, stage_of(work.stored.job), why); }

NextLook Stepper::step(Work& work, std::expected<Seen, Error> seen, Seconds now) {
  for (int moves = 0; moves < most_moves; ++moves) {
    metrics_.looked();
    if (!seen) {
      metrics_.failed_call("executor");
      warn(work, "look", seen.error());
      return {NextLook::Kind::again};
    }
    const Observed observed = observe(work, *seen, now);
    Step step = next(work.stored.job, observed, options_.limits);
    if (!(step.job == work.stored.job)) {
      const auto stored = records_.store(work.stored, step.job);
      if (!stored) {
        warn(work, "store", Error{stored.error().message});
        return {NextLook::Kind::again};
      }
      if (!*stored) return {NextLook::Kind::again};
      note("stored");
      metrics_.stepped(work.stored.job, step.job);
      if (work.stored.job.state != step.job.state)
        log::info(
            "customization",
            {{"customization", step.job.name}, {"state", to_string(step.job.state)}, {"message", step.job.message}});
      work.stored.job = std::move(step.job);
      ++work.stored.revision;
    }
    const Stage stage = step.action.stage;
    if (const auto done = act(work, step.action, *seen); !done) {
      metrics_.failed_call("executor");
      warn(work, word_of(step.action.kind), done.error());
      if (step.action.kind == Kind::create) show_why(work, stage, done.error().message);
      return {NextLook::Kind::again};
    }
    if (step.action.kind == Kind::nothing) {
      if (const auto settled = records_.settle(work.stored); !settled || !*settled) return {NextLook::Kind::again};
      return {NextLook::Kind::no_more};
    }
    if (step.action.kind == Kind::cancel) return {NextLook::Kind::soon};
    if (step.action.kind == Kind::wait) {
      const bool follows_adapter = !is_final(work.stored.job.state) && stage == Stage::upload &&
                                   observed.stages.back().state == State::completed;
      if (follows_adapter && observed.adapter == AdapterState::pending) return {NextLook::Kind::at, now + person_pause};
      if (follows_adapter) return {NextLook::Kind::soon};
      return {NextLook::Kind::at, step.action.at};
    }
    const Work* const one[] = {&work};
    seen = std::move(executor_.look(one).front());
  }
  return {NextLook::Kind::again};
}

}  // namespace stackgate::customizer
