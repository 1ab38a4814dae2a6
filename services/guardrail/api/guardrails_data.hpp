// Parts of several answers. Pure.
#pragma once
#include "services/guardrail/api/answer.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::guardrail {

/// Members of an open object: config_id, config_ids, status, rail, and what the options asked for.
void write_guardrails(json::Writer& w, const GuardrailsData& data);
/// state, llm_output, output_data, log: those that are there.
void write_asked(json::Writer& w, const GuardrailsData& data);
/// {"type", "message", …}
void write_event(json::Writer& w, const Event& event);
void write_usage(json::Writer& w, const Usage& usage);

}  // namespace stackgate::guardrail
