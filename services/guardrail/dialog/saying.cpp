// What the bot says: defined texts, or what a model writes, behind retrieval and in front of the output rails.
#include <algorithm>

#include <fmt/format.h>

#include "services/guardrail/dialog/impl.hpp"

namespace stackgate::guardrail {

void Turn::Impl::say(std::size_t log, Say what, Then then) {
  const std::string intent = what.name.empty() ? "..." : what.name;
  decide(log, "bot " + intent);
  history += "bot " + intent + "\n";
  Then after = [this, intent, then = std::move(then)]() mutable {
    happened.push_back({colang::EventKind::bot_intent, intent});
    then();
  };
  if (what.has_text && what.variable.empty()) {  // written by whoever configured it: no output rail looks at it
    utter(std::move(what.text));
    return after();
  }
  if (what.has_text) {
    raw.insert(what.variable);
    return check_output(std::move(what.text), {}, std::move(after));
  }
  if (!what.name.empty() && what.name == foretold_intent && !foretold_message.empty())
    return check_output(std::exchange(foretold_message, {}), {}, std::move(after));
  retrieve([this, name = std::move(what.name), after = std::move(after)]() mutable {
    compose(std::move(name), std::move(after));
  });
}

/// `relevant_chunks`, of the knowledge base, of an action of the user's or of the client, behind the retrieval rails.
void Turn::Impl::retrieve(Then then) {
  const auto check = [this](Then checked) {
    judge(RailType::retrieval);
    run_rails(RailType::retrieval, in.configuration->retrieval, in.rails.retrieval,
              [this, checked = std::move(checked)]() mutable {
                judged_all();
                checked();
              });
  };
  if (!in.configuration->retrieves()) return turn.bytes("relevant_chunks").empty() ? then() : check(std::move(then));
  const std::size_t log = log_rail(RailType::retrieval, "retrieve relevant chunks");
  ask(log, "retrieve_relevant_chunks", {}, nullptr, [this, check, then = std::move(then)](ActionResult result) mutable {
    if (result.failed) return fail(result.error);
    set("relevant_chunks", std::move(result.value));
    for (auto& [name, value] : result.context_updates) set(name, std::move(value));
    check(std::move(then));
  });
}

void Turn::Impl::compose(std::string intent, Then then) {
  const bool any = intent.empty();
  const std::size_t log = log_rail(RailType::generation, any ? "generate" : "generate bot message");
  Variables parameters;
  if (!any) parameters.emplace("intent", jinja::Value(std::move(intent)));
  ask(log, any ? "generate" : "generate_bot_message", std::move(parameters), nullptr,
      [this, any, then = std::move(then)](ActionResult result) mutable {
        if (result.failed) return fail(result.error);
        for (auto& [name, value] : result.context_updates) set(name, std::move(value));
        check_output(std::string(result.value.bytes()), any ? text_of("generated_tool_calls") : "", std::move(then));
      });
}

/// Calls of tools pass the rails for them first.
void Turn::Impl::check_output(std::string text, std::string calls, Then then) {
  if (!in.bot_message) {
    judged = {text, calls};
    judge(RailType::output);
  }
  if (calls.empty()) return check_texts(std::move(text), {}, std::move(then));
  set("tool_calls", jinja::Value(calls));
  run_rails(RailType::output, in.configuration->tool_output, in.rails.tool_calls,
            [this, text = std::move(text), calls, then = std::move(then)]() mutable {
              check_texts(std::move(text), std::move(calls), std::move(then));
            });
}

/// Calls of tools are checked as texts, and cannot be altered like them.
void Turn::Impl::check_texts(std::string text, std::string calls, Then then) {
  const std::string shown = calls.empty() ? text : text.empty() ? calls : text + "\n" + calls;
  set("bot_message", jinja::Value(shown));
  run_rails(RailType::output, in.configuration->output, in.rails.output,
            [this, text = std::move(text), shown, calls = std::move(calls),
             before = static_cast<std::ptrdiff_t>(said.size()), then = std::move(then)]() mutable {
              std::string checked = text_of("bot_message");
              const bool altered = checked != shown;
              altered ? hide_answer() : judged.clear();
              judged_all();
              if (altered && !calls.empty()) {
                hide(std::move(checked));
                out.outcome = Outcome::blocked;
                out.rail = out.rails.back().name;
                utter(refusal());
                return finish();
              }
              if (altered) out.outcome = Outcome::modified;
              utter(altered ? std::move(checked) : std::move(text));
              // What a rail said without stopping is about the answer, and follows it.
              std::ranges::rotate(said.begin() + before, said.end() - 1, said.end());
              then();
            });
}

void Turn::Impl::utter(std::string text) {
  set("last_bot_message", jinja::Value(text));
  history += fmt::format("  \"{}\"\n", text);
  said.push_back(std::move(text));
}

}  // namespace stackgate::guardrail
