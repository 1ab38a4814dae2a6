// What the user means, and what comes next where no flow says it: asked one by one, or in a single call.
#include <fmt/format.h>

#include "services/guardrail/dialog/impl.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::size_t most_planned = 16;
constexpr std::size_t longest_name = 200;

std::string member_of(const jinja::Value& value, std::string_view name) {
  const auto* dict = value.dict();
  const jinja::Value* found = dict == nullptr ? nullptr : (*dict)->find(name);
  return found == nullptr ? std::string() : std::string(found->bytes());
}

/// Steps are a model's, or a client's who gives a state back.
bool is_step(std::string_view step) {
  return (step.starts_with("bot ") || step.starts_with("user ")) && step.size() <= longest_name &&
         step.find_first_of("\n\"") == std::string_view::npos;
}

std::vector<std::string> steps_in(const jinja::Value& value) {
  std::vector<std::string> out;
  const auto* list = value.list();
  if (list == nullptr) return {"bot " + std::string(value.bytes())};
  for (const jinja::Value& each : (*list)->items) {
    if (out.size() == most_planned || !is_step(each.bytes())) break;
    out.emplace_back(each.bytes());
  }
  return out;
}

}  // namespace

void Turn::Impl::recognise() {
  if (!names_intents(program)) return happen({colang::EventKind::user_intent, "..."});
  if (in.configuration->dialog.single_call) return foretell();
  ask_for_intent();
}

void Turn::Impl::ask_for_intent() {
  const std::size_t log = log_rail(RailType::dialog, "generate user intent");
  ask(log, "generate_user_intent", {}, nullptr, [this](ActionResult result) {
    if (result.failed) return fail(result.error);
    for (auto& [name, value] : result.context_updates) set(name, std::move(value));
    recognised(std::string(result.value.bytes()));
  });
}

/// Intent, next step and message in one call, which therefore needs the knowledge base first.
void Turn::Impl::foretell() {
  retrieve([this] {
    const std::size_t log = log_rail(RailType::generation, "generate intent, steps and message");
    ask(log, "generate_intent_steps_message", {}, nullptr, [this](ActionResult result) {
      const std::string intent = result.failed ? std::string() : member_of(result.value, "user_intent");
      if (intent.empty() && in.configuration->dialog.fallback_to_multiple_calls) return ask_for_intent();
      if (intent.empty()) return fail(result.failed ? result.error : "the model named no intent");
      for (auto& [name, value] : result.context_updates) set(name, std::move(value));
      foretold_intent = member_of(result.value, "bot_intent");
      foretold_message = member_of(result.value, "bot_message");
      recognised(intent);
    });
  });
}

void Turn::Impl::recognised(const std::string& intent) {
  history += "  " + intent + "\n";
  happen({colang::EventKind::user_intent, intent});
}

/// No flow says what comes: what was planned does, or the model.
void Turn::Impl::ask_next_step(const std::string& intent) {
  if (!planned.empty() && planned.front() == "user " + intent) {
    planned.erase(planned.begin());
    return follow(log_rail(RailType::dialog, "planned steps"));
  }
  planned.clear();
  if (program.user_intents.empty()) return generate();
  const std::size_t log = log_rail(RailType::dialog, "generate next step");
  if (!foretold_intent.empty()) {
    planned = {"bot " + foretold_intent};
    return follow(log);
  }
  if (in.configuration->dialog.single_call && !in.configuration->dialog.fallback_to_multiple_calls)
    return fail("the model named no next step");
  ask(log, "generate_next_step", {}, nullptr, [this, log](const ActionResult& result) {
    if (result.failed) return fail(result.error);
    planned = steps_in(result.value);
    follow(log);
  });
}

/// Up to the next step of the user's, which is left for the next turn.
void Turn::Impl::follow(std::size_t log) {
  if (planned.empty() || !planned.front().starts_with("bot ") || !is_step(planned.front())) return next_happening();
  const std::string intent = planned.front().substr(std::string_view("bot ").size());
  planned.erase(planned.begin());
  auto what = defined(intent);
  if (!what) return fail(what.error());
  say(log, std::move(*what), [this, log] { follow(log); });
}

std::expected<Say, std::string> Turn::Impl::defined(const std::string& intent) {
  const colang::BotMessage* message = program.find_bot_message(intent);
  if (message == nullptr || message->texts.empty()) return Say{intent};
  const Fiber nothing;
  auto text = guardrail::text_of(*message, visible(nothing, scope()), in.seed);
  if (!text) return std::unexpected(std::move(text.error()));
  return Say{intent, std::move(*text), true};
}

}  // namespace stackgate::guardrail
