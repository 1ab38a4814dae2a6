// Lists of rails: in order, or side by side where one does not depend on the other.
#include <algorithm>

#include <fmt/format.h>

#include "services/guardrail/dialog/impl.hpp"

namespace stackgate::guardrail {

constexpr std::string_view default_refusal = "I'm sorry, I can't respond to that.";

void Turn::Impl::run_rails(RailType type, const RailList& rails, const RailChoice& choice, Then then) {
  auto run = std::make_shared<RailRun>();
  run->type = type;
  run->parallel = rails.parallel;
  if (choice.on)
    for (const RailCall& call : rails.flows)
      if (!choice.only || std::ranges::any_of(*choice.only, [&](const std::string& each) {
            return each == call.text || each == call.flow;
          }))
        run->calls.push_back(&call);
  run->then = std::move(then);
  rail_run = run;
  next_group(run);
}

void Turn::Impl::next_group(const std::shared_ptr<RailRun>& run) {
  if (run->next == run->calls.size()) return std::exchange(run->then, {})();
  const auto beside = [&](std::size_t i) {
    return run->parallel ||
           (run->type == RailType::input && may_run_beside(program, program.flows[run->calls[i]->index]));
  };
  std::size_t end = run->next + 1;
  if (beside(run->next))
    while (end < run->calls.size() && beside(end)) ++end;

  run->group.clear();
  for (; run->next < end; ++run->next) {
    const RailCall& call = *run->calls[run->next];
    const RunningPtr rail = open(run->type, call.text, program.flows[call.index], 0);
    for (const auto& [name, value] : call.arguments) rail->fiber.given.insert_or_assign(name, jinja::Value(value));
    rail->then = [this, weak = std::weak_ptr(run), each = std::weak_ptr(rail)](Rest rest) {
      const auto there = weak.lock();
      const RunningPtr rested = each.lock();
      if (there && rested) rail_rested(there, rested, rest);
    };
    run->group.push_back(rail);
  }
  run->left = run->group.size();
  for (const RunningPtr& rail : std::vector(run->group)) {
    if (ended) return;
    drive(rail);
  }
}

void Turn::Impl::rail_rested(const std::shared_ptr<RailRun>& run, const RunningPtr& rail, Rest rest) {
  if (rest != Rest::ended) return block(rail, rest);
  if (--run->left > 0) return;
  for (const RunningPtr& each : run->group) {
    for (auto& [name, value] : each->fiber.own) {
      // The result of a tool has two names: what one rail made of it the next one reads by both.
      if (in.tool_result && name == "user_message") set("tool_message", value);
      if (in.tool_result && name == "tool_message") set("user_message", value);
      if (run->type == RailType::retrieval && name == "relevant_chunks" && value.bytes() != turn.bytes(name))
        hide(text_of(name));
      if (!judged.empty() && name == "bot_message" && value.bytes() != turn.bytes(name)) hide(text_of(name));
      turn.set(name, std::move(value));
    }
    for (std::string& text : each->said) said.push_back(std::move(text));
  }
  next_group(run);
}

/// The turn ends with what this rail said. Whatever else is under way counts no more.
void Turn::Impl::block(const RunningPtr& rail, Rest rest) {
  out.outcome = Outcome::blocked;
  out.rail = out.rails[rail->log].name;
  out.rails[rail->log].stop = true;
  if (out.rails[rail->log].type == RailType::retrieval) hide(text_of("relevant_chunks"));
  if (out.rails[rail->log].type == RailType::output && !judged.empty()) {
    hide(text_of("bot_message"));
    hide_answer();
  }
  if (rest != Rest::stopped) {
    out.error = fmt::format("rail \"{}\": {}", out.rail, rail->error);
    rail->said.clear();
  }
  out.exception = std::move(rail->exception);
  if (rest != Rest::stopped && in.configuration->exceptions)
    out.exception = Event{"RailFailedException", {{"message", jinja::Value("The rail \"" + out.rail + "\" failed.")}}};
  if (!out.exception) {
    if (rail->said.empty()) rail->said.push_back(refusal());
    for (std::string& text : rail->said) utter(std::move(text));
  }
  finish();
}

void Turn::Impl::hide(std::string text) {
  if (!text.empty()) out.hidden.push_back(std::move(text));
}

void Turn::Impl::hide_answer() {
  out.hides_answer = true;
  for (std::string& text : std::exchange(judged, {})) hide(std::move(text));
}

std::string Turn::Impl::refusal() const {
  const colang::BotMessage* message = program.find_bot_message("refuse to respond");
  if (message == nullptr || message->texts.empty()) return std::string(default_refusal);
  const Fiber nothing;
  std::uint32_t steps = 0;
  return guardrail::text_of(*message, visible(nothing, {program, turn, in.seed, steps}), in.seed)
      .value_or(std::string(default_refusal));
}

}  // namespace stackgate::guardrail
