#include "services/guardrail/api/guardrails_data.hpp"

#include "services/guardrail/api/log.hpp"
#include "services/kit/jinja/to_json.hpp"

namespace stackgate::guardrail {

void write_guardrails(json::Writer& w, const GuardrailsData& data) {
  if (data.config_ids.empty())
    w.member("config_id", nullptr);
  else
    w.member("config_id", data.config_ids.front());
  w.array("config_ids", [&] {
    for (const std::string& each : data.config_ids) w.value(each);
  });
  w.member("status", to_string(data.outcome));
  if (!data.rail.empty()) w.member("rail", data.rail);
  write_asked(w, data);
}

void write_asked(json::Writer& w, const GuardrailsData& data) {
  const auto raw = [&w](std::string_view name, const std::string& json) {
    if (json.empty()) return;
    w.key(name);
    w.raw(json);
  };
  raw("state", data.state);
  raw("llm_output", data.llm_output);
  raw("output_data", data.output_data);
  raw("log", data.log);
}

void write_event(json::Writer& w, const Event& event) {
  w.object([&] {
    w.member("type", event.type);
    for (const auto& [name, value] : event.values) {
      if (name == "type") continue;
      w.key(name);
      jinja::write_json(w, value);
    }
  });
}

void write_usage(json::Writer& w, const Usage& usage) {
  w.object("usage", [&] {
    w.member("prompt_tokens", usage.prompt_tokens);
    w.member("completion_tokens", usage.completion_tokens);
    w.member("total_tokens", usage.prompt_tokens + usage.completion_tokens);
  });
}

}  // namespace stackgate::guardrail
