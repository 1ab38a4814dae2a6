#include "services/guardrail/dialog/impl.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace stackgate::guardrail {
namespace {

/// What the turn sets itself; not kept for the next one.
constexpr std::array<std::string_view, 17> of_the_turn = {"last_user_intent",
                                                          "generated_message",
                                                          "generated_finish_reason",
                                                          "generated_model",
                                                          "config",
                                                          "user_message",
                                                          "bot_message",
                                                          "relevant_chunks",
                                                          "last_user_message",
                                                          "last_bot_message",
                                                          "event",
                                                          "generated_tool_calls",
                                                          "tool_calls",
                                                          "generation_options",
                                                          "tool_message",
                                                          "tool_name",
                                                          "tool_call_id"};
/// Its result may hold parts of what it looked at; those of others are verdicts, or what the user's code makes public.
bool gives_text(std::string_view action) {
  return action == "mask_sensitive_data" || action == "redact_regex_pattern" || action == "injection_detection" ||
         action == "generate_value";
}

constexpr std::uint64_t heaviest_kept = 10'000;  // of a variable; Value::weight()
constexpr std::size_t most_waiting = 32;

}  // namespace

Turn::Impl::Impl(TurnInput input)
    : in(std::move(input)), program(in.configuration->program), steps_left(in.max_steps), actions_left(in.max_actions) {
  waiting = std::move(in.state.waiting);
  planned = std::move(in.state.planned);
  Variables all = std::move(in.state.variables);
  for (auto& [name, value] : in.context) all.insert_or_assign(name, std::move(value));
  all.insert_or_assign("config", in.configuration->config_value);
  const jinja::Value message(in.user_message);
  all.insert_or_assign("user_message", message);
  all.insert_or_assign("last_user_message", message);
  if (in.bot_message) all.insert_or_assign("bot_message", jinja::Value(*in.bot_message));
  for (auto each = in.history.rbegin(); each != in.history.rend(); ++each)
    if (each->role == "assistant") {
      all.insert_or_assign("last_bot_message", jinja::Value(each->content));
      break;
    }
  all.try_emplace("last_bot_message", jinja::None{});
  all.try_emplace("relevant_chunks", std::string());
  all.erase("generated_tool_calls");  // never the client's
  turn = SharedVariables(std::make_shared<const Variables>(std::move(all)));
}

std::string Turn::Impl::text_of(std::string_view variable) const { return std::string(turn.bytes(variable)); }

std::size_t Turn::Impl::log_rail(RailType type, std::string name) {
  out.rails.push_back({.type = type, .name = std::move(name), .began = now, .ended = now});
  return out.rails.size() - 1;
}

Turn::Impl::RunningPtr Turn::Impl::open(RailType type, std::string name, const colang::Flow& flow, std::uint32_t at) {
  auto running = std::make_shared<Running>();
  running->log = log_rail(type, std::move(name));
  running->fiber.frames.push_back({&flow, at});
  return running;
}

void Turn::Impl::ask(std::size_t log, std::string action, Variables parameters, const Fiber* fiber, WithResult then) {
  if (actions_left == 0) return fail("the turn executed too many actions");
  --actions_left;
  const std::uint64_t id = next_id++;
  ActivatedRail& rail = out.rails[log];
  rail.decisions.push_back("execute " + action);
  rail.actions.push_back({.name = action, .parameters = parameters, .began = now, .ended = now});
  requests.push_back({.id = id,
                      .action = std::move(action),
                      .parameters = std::move(parameters),
                      .context = fiber == nullptr ? turn : snapshot(*fiber, turn),
                      .rail = rail.type,
                      .rail_name = rail.name});
  const std::size_t action_log = rail.actions.size() - 1;
  under_way.emplace(id, [this, log, action_log, then = std::move(then)](ActionResult result) mutable {
    ExecutedAction& executed = out.rails[log].actions[action_log];
    executed.ended = out.rails[log].ended = now;
    executed.value = result.value;
    executed.failed = result.failed;
    executed.error = result.error;
    executed.model_calls = std::move(result.model_calls);
    then(std::move(result));
  });
}

void Turn::Impl::drive(const RunningPtr& running) {
  while (!ended)
    if (!perform(running, advance(running->fiber, scope()))) return;
}

void Turn::Impl::create(const RunningPtr& running, Event event) {
  const bool rail = out.rails[running->log].type != RailType::dialog;
  decide(running->log, "create event " + event.type);
  if (rail && event.type.ends_with("Exception")) running->exception = event;
  if (!rail) happened.push_back({colang::EventKind::named, event.type, event.values});
  out.events.push_back(std::move(event));
}

/// False: it came to rest, or goes on when there is a result.
bool Turn::Impl::perform(const RunningPtr& running, Need need) {
  const bool rail = out.rails[running->log].type != RailType::dialog;
  const auto rest = [&](Rest how) {
    out.rails[running->log].ended = now;
    running->then(how);
    return false;
  };
  if (auto* act = std::get_if<Act>(&need)) {
    std::string action = act->action;
    ask(running->log, std::move(act->action), std::move(act->parameters), &running->fiber,
        [this, running, action = std::move(action), variable = std::move(act->variable)](ActionResult result) mutable {
          if (result.failed) {
            running->error = std::move(result.error);
            return running->then(Rest::broken);
          }
          for (auto& [name, value] : result.context_updates)
            running->fiber.own.insert_or_assign(name, std::move(value));
          for (Event& event : result.events) create(running, std::move(event));
          if (!variable.empty()) {
            const bool is_raw = !raw.empty() && gives_text(action) && holds_text(result.value);
            is_raw ? (void)running->fiber.raw.insert(variable) : (void)running->fiber.raw.erase(variable);
            running->fiber.own.insert_or_assign(variable, std::move(result.value));
          }
          drive(running);
        });
    return false;
  }
  if (auto* create = std::get_if<Create>(&need)) {
    this->create(running, std::move(create->event));
    return true;
  }
  if (auto* what = std::get_if<Say>(&need)) {
    if (!rail) {
      // What the flow has set is seen by rails and actions.
      for (const auto& [name, value] : running->fiber.own) turn.set(name, value);
      say(running->log, std::move(*what), [this, running] { drive(running); });
      return false;
    }
    decide(running->log, "bot " + (what->name.empty() ? "..." : what->name));
    if (what->has_text) {
      running->said.push_back(std::move(what->text));
      return true;
    }
    ask(running->log, "generate_bot_message", {{"intent", jinja::Value(what->name)}}, &running->fiber,
        [this, running](const ActionResult& result) {
          if (!result.failed) running->said.emplace_back(result.value.bytes());
          drive(running);
        });
    return false;
  }
  if (std::holds_alternative<Wait>(need)) {
    if (!rail) return rest(Rest::waits);
    running->error = "a rail cannot wait for what the user says";
    return rest(Rest::broken);
  }
  if (auto* broken = std::get_if<Broken>(&need)) {
    running->error = std::move(broken->error);
    return rest(Rest::broken);
  }
  if (std::holds_alternative<Stopped>(need)) {
    decide(running->log, "stop");
    out.rails[running->log].stop = true;
    return rest(Rest::stopped);
  }
  return rest(Rest::ended);
}

void Turn::Impl::fail(std::string error) {
  if (ended) return;
  out.outcome = Outcome::failed;
  out.error = std::move(error);
  finish();
}

void Turn::Impl::finish() {
  if (ended) return;
  ended = true;
  under_way.clear();
  requests.clear();
  out.user_message = text_of("user_message");
  for (const std::string& each : said) out.text += (out.text.empty() ? "" : "\n") + each;
  out.colang_history = history;
  if (waiting.size() > most_waiting) waiting.erase(waiting.begin(), waiting.end() - most_waiting);
  out.state.waiting = std::move(waiting);
  out.state.planned = std::move(planned);
  turn.each([this](const std::string& name, const jinja::Value& value) {
    if (std::ranges::find(of_the_turn, name) == of_the_turn.end() && value.weight() <= heaviest_kept)
      out.state.variables.insert_or_assign(name, value);
  });
  out.variables = std::move(turn);
}

std::vector<ActionRequest> Turn::Impl::outgoing() { return std::exchange(requests, {}); }

Turn::Turn(TurnInput input) : impl_(std::make_unique<Impl>(std::move(input))) {}
Turn::~Turn() = default;
Turn::Turn(Turn&&) noexcept = default;
Turn& Turn::operator=(Turn&&) noexcept = default;

std::vector<ActionRequest> Turn::begin(Moment now) {
  impl_->now = now;
  impl_->start();
  return impl_->outgoing();
}

std::vector<ActionRequest> Turn::finished(ActionResult result, Moment now) {
  impl_->now = now;
  const auto found = impl_->under_way.find(result.id);
  if (found == impl_->under_way.end()) return {};  // nobody waits for it any more
  auto then = std::move(found->second);
  impl_->under_way.erase(found);
  then(std::move(result));
  return impl_->outgoing();
}

bool Turn::done() const { return impl_->ended; }
const TurnResult& Turn::result() const { return impl_->out; }
TurnResult Turn::take_result() { return std::move(impl_->out); }

}  // namespace stackgate::guardrail
