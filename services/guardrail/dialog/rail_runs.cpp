// Lists of rails: in order, or side by side where one does not depend on the other.
#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "services/guardrail/dialog/impl.hpp"

namespace stackgate::guardrail {

namespace {

constexpr std::string_view default_refusal = "I'm sorry, I can't respond to that.";

bool is_message(std::string_view variable) {
  return std::ranges::find(messages_of_turns, variable) != messages_of_turns.end();
}

/// Whether a flow set a text to something else than it is for the turn.
bool differs(const Fiber& fiber, const SharedVariables& turn, std::string_view name) {
  const auto found = fiber.own.find(name);
  return found != fiber.own.end() && found->second.bytes() != turn.bytes(name);
}

/// The variables that hold what rails of a kind judge.
std::span<const std::string_view> raw_sources(RailType type) {
  static constexpr std::array<std::string_view, 3> of_input = {"user_message", "last_user_message", "tool_message"};
  static constexpr std::array<std::string_view, 1> of_retrieval = {"relevant_chunks"};
  static constexpr std::array<std::string_view, 4> of_output = {"bot_message", "generated_message", "tool_calls",
                                                                "generated_tool_calls"};
  if (type == RailType::input) return of_input;
  if (type == RailType::retrieval) return of_retrieval;
  return of_output;
}

}  // namespace

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
    const RailReach reach = reach_of(program, program.flows[run->calls[i]->index]);
    if (reach.alters) return false;  // those before and behind it judge what it makes
    return run->parallel || (run->type == RailType::input && reach.asks && !reach.runs_custom);
  };
  std::size_t end = run->next + 1;
  if (end < run->calls.size() && beside(run->next))
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
  if (const RunningPtr second = second_alteration(*run)) {
    second->error = "it altered what another rail beside it has altered";
    return block(second, Rest::broken);
  }
  for (const RunningPtr& each : run->group) {
    const bool alters = std::ranges::any_of(raw_sources(run->type),
                                            [&](std::string_view name) { return differs(each->fiber, turn, name); });
    if (alters) hide_before(run->type);
    merge(each->fiber);
    if (alters) conceal(run->type);
    for (std::string& text : each->said) said.push_back(std::move(text));
  }
  next_group(run);
}

/// Of a group the rail that made of a message something else than one before it did: neither counts for both.
Turn::Impl::RunningPtr Turn::Impl::second_alteration(const RailRun& run) const {
  for (const std::string_view name : messages_of_turns) {
    std::optional<std::string_view> altered;
    for (const RunningPtr& each : run.group) {
      if (!differs(each->fiber, turn, name)) continue;
      const std::string_view made = each->fiber.own.find(name)->second.bytes();
      if (altered && *altered != made) return each;
      altered = made;
    }
  }
  return nullptr;
}

/// What a rail has set, for all that follow; the values are taken from it.
void Turn::Impl::merge(Fiber& fiber) {
  for (auto& [name, value] : fiber.own) {
    // The result of a tool has two names: what one rail made of it the next one reads by both.
    if (in.tool_result && name == "user_message") set("tool_message", value);
    if (in.tool_result && name == "tool_message") set("user_message", value);
    if (fiber.raw.contains(name)) {
      if (!is_message(name)) raw.insert(name);
    } else if (!is_message(name)) {
      raw.erase(name);
      std::erase(out.concealed, name);
      std::erase(out.unkept, name);
    }
    turn.set(name, std::move(value));
  }
}

/// A rail alters what it judges, or refuses it.
void Turn::Impl::hide_before(RailType type) {
  if (type == RailType::retrieval) hide(text_of("relevant_chunks"));
  if (type == RailType::output && !judged.empty()) hide(text_of("bot_message"));
  if (type == RailType::input) out.unkept_texts.push_back(text_of("user_message"));
}

/// What was made of it before is not shown, and not kept.
void Turn::Impl::conceal(RailType type) {
  if (type == RailType::output && judged.empty()) return;  // it was the client's
  std::vector<std::string>& names = type == RailType::input ? out.unkept : out.concealed;
  const auto is_shown = [&](std::string_view text) {
    return out.outcome != Outcome::blocked && !text.empty() &&
           std::ranges::any_of(messages_of_turns, [&](auto each) { return turn.bytes(each) == text; });
  };
  for (const std::string& name : raw) {
    if (std::ranges::find(raw_sources(type), name) != raw_sources(type).end() || is_shown(turn.bytes(name))) continue;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
}

/// From now on a list of rails judges this.
void Turn::Impl::judge(RailType type) {
  for (const std::string_view each : raw_sources(type)) raw.emplace(each);
}

/// It has passed; what was made of what did not pass stays what it is.
void Turn::Impl::judged_all() {
  raw.clear();
  raw.insert(out.concealed.begin(), out.concealed.end());
  raw.insert(out.unkept.begin(), out.unkept.end());
}

/// The turn ends with what this rail said. Whatever else is under way counts no more.
void Turn::Impl::block(const RunningPtr& rail, Rest rest) {
  out.outcome = Outcome::blocked;
  out.rail = out.rails[rail->log].name;
  out.rails[rail->log].stop = true;
  const RailType type = out.rails[rail->log].type;
  hide_before(type);
  std::erase_if(rail->fiber.own, [](const auto& each) { return is_message(each.first); });
  merge(rail->fiber);
  conceal(type);
  if (type == RailType::output && !judged.empty()) hide_answer();
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
  return guardrail::text_of(*message, visible(nothing, {program, turn, in.seed, steps, raw}), in.seed)
      .value_or(std::string(default_refusal));
}

}  // namespace stackgate::guardrail
