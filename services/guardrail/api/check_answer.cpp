#include "services/guardrail/api/check_answer.hpp"

#include <algorithm>

#include "services/guardrail/api/guardrails_data.hpp"
#include "services/guardrail/api/log.hpp"

namespace stackgate::guardrail {
namespace {

bool is_closed(Outcome outcome) { return outcome == Outcome::blocked || outcome == Outcome::failed; }

void write_rails(json::Writer& w, std::string_view name, const RailList& list) {
  w.array(name, [&] {
    for (const RailCall& each : list.flows) w.value(each.text);
  });
}

void write_configuration(json::Writer& w, const Configuration& configuration) {
  w.member("description", configuration.description);
  w.object("rails", [&] {
    write_rails(w, "input", configuration.input);
    write_rails(w, "output", configuration.output);
    write_rails(w, "retrieval", configuration.retrieval);
    write_rails(w, "tool_input", configuration.tool_input);
    write_rails(w, "tool_output", configuration.tool_output);
  });
  w.array("models", [&] {
    for (const Model& each : configuration.models)
      w.object([&] {
        w.member("type", each.type);
        w.member("engine", each.engine);
        w.member("model", each.model);
      });
  });
  w.member("streaming", configuration.streaming.enabled);
}

}  // namespace

std::string check_answer(const CheckAnswer& answer) {
  return json::object_text([&](json::Writer& w) {
    w.member("status", is_closed(answer.turn.outcome) ? "blocked" : to_string(answer.turn.outcome));
    w.member("content", answer.content);
    if (answer.turn.rail.empty())
      w.member("rail", nullptr);
    else
      w.member("rail", answer.turn.rail);
    w.object("guardrails", [&] { write_guardrails(w, answer.guardrails); });
  });
}

std::string microservice_check_answer(const CheckAnswer& answer) {
  return json::object_text([&](json::Writer& w) {
    w.member("status", is_closed(answer.turn.outcome) ? "blocked" : "success");
    w.object("rails_status", [&] {
      std::vector<std::string_view> written;
      for (const ActivatedRail& rail : answer.turn.rails) {
        if (rail.type == RailType::generation || std::ranges::find(written, rail.name) != written.end()) continue;
        written.push_back(rail.name);
        const bool stopped = std::ranges::any_of(
            answer.turn.rails, [&](const ActivatedRail& each) { return each.name == rail.name && each.stop; });
        w.object(rail.name, [&] { w.member("status", stopped ? "blocked" : "success"); });
      }
    });
    w.array("messages", [&] {
      w.object([&] {
        w.member("role", "assistant");
        w.member("content", answer.content);
      });
    });
    w.object("guardrails_data", [&] { write_guardrails(w, answer.guardrails); });
  });
}

std::string configurations_list(std::span<const ListedConfiguration> configurations) {
  std::string out;
  json::Writer w(out);
  w.array([&] {
    for (const ListedConfiguration& each : configurations)
      w.object([&] {
        w.member("id", each.id);
        if (each.configuration != nullptr) write_configuration(w, *each.configuration);
        w.member("valid", each.error.empty());
        w.member("served", each.configuration != nullptr);
        if (each.error.empty())
          w.member("error", nullptr);
        else
          w.member("error", each.error);
      });
  });
  return out;
}

}  // namespace stackgate::guardrail
