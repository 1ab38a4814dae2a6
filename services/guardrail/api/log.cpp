#include "services/guardrail/api/log.hpp"

#include <map>

#include "services/guardrail/api/guardrails_data.hpp"
#include "services/guardrail/api/hiding.hpp"
#include "services/kit/jinja/to_json.hpp"

namespace stackgate::guardrail {
namespace {

double seconds(Moment span) { return std::chrono::duration<double>(span).count(); }

struct Stats {
  std::map<RailType, Moment> by_type{};
  Moment calls{};
  std::uint64_t count = 0, prompt_tokens = 0, completion_tokens = 0;
};

Stats stats_of(const TurnResult& turn) {
  Stats out;
  for (const ActivatedRail& rail : turn.rails) {
    out.by_type[rail.type] += rail.ended - rail.began;
    for (const ExecutedAction& action : rail.actions)
      for (const ModelCall& call : action.model_calls) {
        ++out.count;
        out.calls += call.ended - call.began;
        out.prompt_tokens += call.prompt_tokens;
        out.completion_tokens += call.completion_tokens;
      }
  }
  return out;
}

class LogWriter {
 public:
  LogWriter(json::Writer& w, const TurnTimes& times, const Hiding& hiding) : w_(w), times_(times), hiding_(hiding) {}

  void rail(const ActivatedRail& rail) {
    w_.object([&] {
      w_.member("type", to_string(rail.type));
      w_.member("name", rail.name);
      w_.array("decisions", [&] {
        for (const std::string& each : rail.decisions) w_.value(each);
      });
      w_.array("executed_actions", [&] {
        for (const ExecutedAction& each : rail.actions) action(each, rail.type);
      });
      w_.member("stop", rail.stop);
      w_.member("additional_info", nullptr);
      span(rail.began, rail.ended);
    });
  }

  void call(const ModelCall& call, RailType rail) {
    w_.object([&] {
      w_.member("task", call.task);
      w_.member("llm_model_name", call.model);
      w_.member("prompt", hiding_.prompt(call, rail));
      w_.member("completion", hiding_.completion(call));
      w_.member("prompt_tokens", call.prompt_tokens);
      w_.member("completion_tokens", call.completion_tokens);
      w_.member("total_tokens", std::uint64_t{call.prompt_tokens} + call.completion_tokens);
      w_.member("from_cache", call.from_cache);
      span(call.began, call.ended);
    });
  }

  void stats(const Stats& stats) {
    const auto of = [&](std::string_view name, RailType type) {
      const auto found = stats.by_type.find(type);
      if (found == stats.by_type.end())
        w_.member(name, nullptr);
      else
        w_.member(name, seconds(found->second));
    };
    w_.object("stats", [&] {
      of("input_rails_duration", RailType::input);
      of("dialog_rails_duration", RailType::dialog);
      of("generation_rails_duration", RailType::generation);
      of("retrieval_rails_duration", RailType::retrieval);
      of("output_rails_duration", RailType::output);
      w_.member("total_duration", seconds(times_.ended - times_.began));
      w_.member("llm_calls_duration", seconds(stats.calls));
      w_.member("llm_calls_count", stats.count);
      w_.member("llm_calls_total_prompt_tokens", stats.prompt_tokens);
      w_.member("llm_calls_total_completion_tokens", stats.completion_tokens);
      w_.member("llm_calls_total_tokens", stats.prompt_tokens + stats.completion_tokens);
    });
  }

 private:
  void action(const ExecutedAction& action, RailType rail) {
    w_.object([&] {
      w_.member("action_name", action.name);
      w_.object("action_params", [&] {
        for (const auto& [name, value] : action.parameters) {
          w_.key(name);
          jinja::write_json(w_, hiding_.value(value));
        }
      });
      w_.key("return_value");
      jinja::write_json(w_, hiding_.value(action.value));
      if (action.failed) w_.member("failed", true);  // why is for the server's log
      w_.array("llm_calls", [&] {
        for (const ModelCall& each : action.model_calls) call(each, rail);
      });
      span(action.began, action.ended);
    });
  }

  void span(Moment began, Moment ended) {
    w_.member("started_at", times_.unix_at_zero + seconds(began));
    w_.member("finished_at", times_.unix_at_zero + seconds(ended));
    w_.member("duration", seconds(ended - began));
  }

  json::Writer& w_;
  const TurnTimes& times_;
  const Hiding& hiding_;
};

void write_calls(json::Writer& w, LogWriter& log, const TurnResult& turn) {
  w.array("llm_calls", [&] {
    for (const ActivatedRail& rail : turn.rails)
      for (const ExecutedAction& action : rail.actions)
        for (const ModelCall& call : action.model_calls) log.call(call, rail.type);
  });
}

}  // namespace

std::string_view to_string(Outcome outcome) {
  constexpr std::string_view names[] = {"passed", "modified", "blocked", "failed"};
  return names[static_cast<std::size_t>(outcome)];
}

std::string log_json(const TurnResult& turn, const LogOptions& options, const TurnTimes& times) {
  if (!options.any()) return {};
  const Hiding hiding(turn);
  return json::object_text([&](json::Writer& w) {
    LogWriter log(w, times, hiding);
    w.array("activated_rails", [&] {
      if (options.activated_rails)
        for (const ActivatedRail& each : turn.rails) log.rail(each);
    });
    log.stats(stats_of(turn));
    if (options.llm_calls)
      write_calls(w, log, turn);
    else
      w.member("llm_calls", nullptr);
    if (options.internal_events)
      w.array("internal_events", [&] {
        for (Event each : turn.events) {
          for (auto& [name, value] : each.values) value = hiding.value(value);
          write_event(w, each);
        }
      });
    else
      w.member("internal_events", nullptr);
    if (options.colang_history)
      w.member("colang_history", hiding.text(turn.colang_history));
    else
      w.member("colang_history", nullptr);
  });
}

std::string output_data_json(const TurnResult& turn, const RequestOptions& options) {
  if (!options.all_output_vars && options.output_vars.empty()) return {};
  // What flows read of the configuration is none of a client's business: prompts, addresses, names of keys.
  constexpr std::string_view of_server = "config";
  const Hiding hiding(turn);
  return json::object_text([&](json::Writer& w) {
    if (options.all_output_vars)
      turn.variables.each([&](const std::string& name, const jinja::Value& value) {
        if (name == of_server) return;
        w.key(name);
        jinja::write_json(w, hiding.variable(name, value));
      });
    else
      for (const std::string& name : options.output_vars) {
        const jinja::Value* const found = turn.variables.find(name);
        w.key(name);
        jinja::write_json(w, found == nullptr || name == of_server ? jinja::Value() : hiding.variable(name, *found));
      }
  });
}

}  // namespace stackgate::guardrail
