// The way of a turn: input rails, intent, flows, answer.
#include <algorithm>

#include <fmt/format.h>

#include "services/guardrail/dialog/impl.hpp"

namespace stackgate::guardrail {
namespace {

/// The innermost frame stands at its `wait`, the others behind their `do`.
WaitingFlow kept(const std::vector<Frame>& frames) {
  WaitingFlow out{.flow = frames.back().flow->name, .at = frames.back().at};
  for (std::size_t i = 0; i + 1 < frames.size(); ++i)
    out.callers.push_back({.flow = frames[i].flow->name, .at = frames[i].at});
  return out;
}

}  // namespace

void Turn::Impl::start() {
  judge(RailType::input);
  if (in.tool_result) return check_result();
  if (in.user_message.empty() && in.bot_message) {
    judged_all();
    return check_answer();
  }
  run_rails(RailType::input, in.configuration->input, in.rails.input, [this] { after_input(); });
}

/// The result of a tool passes the rails for it, and then those for what users write. Both may read and alter it
/// as `$user_message` or `$tool_message`.
void Turn::Impl::check_result() {
  in.user_message = in.tool_result->text;
  set("user_message", jinja::Value(in.user_message));
  set("tool_message", jinja::Value(in.user_message));
  set("tool_name", jinja::Value(in.tool_result->name));
  set("tool_call_id", jinja::Value(in.tool_result->call_id));
  set("tool_calls", jinja::Value(in.tool_calls));
  in.rails.dialog.on = false;
  run_rails(RailType::input, in.configuration->tool_input, in.rails.tool_results,
            [this] { run_rails(RailType::input, in.configuration->input, in.rails.input, [this] { after_input(); }); });
}

void Turn::Impl::after_input() {
  judged_all();
  const std::string message = text_of("user_message");
  if (message != in.user_message) out.outcome = Outcome::modified;
  history += fmt::format("user \"{}\"\n", message);
  if (in.bot_message) return check_answer();
  if (!in.rails.dialog.on) {  // only the input was to be checked: no model is asked for an answer
    utter(message);
    return finish();
  }
  if (starts_with_events(program) || !waiting.empty() || !planned.empty()) return recognise();
  generate();
}

void Turn::Impl::check_answer() {
  if (!in.tool_calls.empty()) set("generated_tool_calls", jinja::Value(in.tool_calls));
  check_output(*in.bot_message, in.tool_calls, [this] { finish(); });
}

/// Without flows of a dialog: one plain call of the main model.
void Turn::Impl::generate() {
  retrieve([this] { compose("", [this] { finish(); }); });
}

/// One flow answers, and those that run in parallel besides.
void Turn::Impl::happen(const Happening& event) {
  const bool user = event.kind == colang::EventKind::user_intent;
  Event shown{user                                          ? "UserIntent"
              : event.kind == colang::EventKind::bot_intent ? "BotIntent"
                                                            : event.name,
              event.values};
  if (event.kind != colang::EventKind::named) {
    shown.values.insert_or_assign("intent", jinja::Value(event.name));
    out.events.push_back(std::move(shown));
  }
  const ArgumentMatches matches = [&](const colang::Argument& argument, const Variables& values) {
    const auto found = values.find(argument.name);
    const Fiber nothing;
    const auto wanted = colang::evaluate(argument.value, visible(nothing, scope()));
    return found != values.end() && wanted && jinja::equal(found->second, *wanted);
  };
  auto found = continuations(program, waiting, event, matches);
  if (found.empty()) return user ? ask_next_step(event.name) : next_happening();
  if (user) planned.clear();  // a flow answers
  // Those that were waiting and go on are taken off; of the others only parallel ones run besides the first.
  std::vector<Continuation> chosen;
  for (const Continuation& each : found)
    if (chosen.empty() || each.flow->parallel) chosen.push_back(each);
  std::vector<WaitingFlow> still;
  for (std::size_t i = 0; i < waiting.size(); ++i)
    if (std::ranges::none_of(chosen, [&](const Continuation& each) { return each.waiting == i; }))
      still.push_back(waiting[i]);
  waiting = std::move(still);
  auto rest = std::make_shared<std::vector<Continuation>>(std::move(chosen));
  auto step = std::make_shared<std::move_only_function<void(std::size_t)>>();
  *step = [this, rest, weak = std::weak_ptr(step)](std::size_t i) {
    if (i == rest->size()) return next_happening();
    go_on((*rest)[i], [again = weak.lock(), i] { (*again)(i + 1); });
  };
  (*step)(0);
}

void Turn::Impl::go_on(const Continuation& where, Then then) {
  const RunningPtr flow = open(RailType::dialog, where.flow->name, *where.flow, where.at);
  flow->fiber.frames.insert(flow->fiber.frames.begin(), where.callers.begin(), where.callers.end());
  flow->then = [this, weak = std::weak_ptr(flow), then = std::move(then)](Rest rest) mutable {
    const RunningPtr running = weak.lock();
    if (running == nullptr) return;
    if (rest == Rest::broken) return fail(running->error);
    for (auto& [name, value] : running->fiber.own) turn.set(name, std::move(value));
    if (rest == Rest::stopped) return finish();
    if (rest == Rest::waits) waiting.push_back(kept(running->fiber.frames));
    then();
  };
  drive(flow);
}

void Turn::Impl::next_happening() {
  if (happened.empty()) return finish();
  const Happening event = std::move(happened.front());
  happened.erase(happened.begin());
  happen(event);
}

}  // namespace stackgate::guardrail
