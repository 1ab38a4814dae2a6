// `log` of an answer, in NeMo Guardrails' names and units: seconds as numbers, points in time since 1970. Source:
// services.md section 5.3; "Generation Options", "GenerationLog". Pure.
#pragma once
#include <string>

#include "services/guardrail/api/request.hpp"

namespace stackgate::guardrail {

/// What the turn's moments mean.
struct TurnTimes {
  double unix_at_zero = 0;  // seconds since 1970 at Moment 0
  Moment began{}, ended{};
};

/// A JSON object; "" when `options` ask for nothing.
std::string log_json(const TurnResult& turn, const LogOptions& options, const TurnTimes& times);

/// options.output_vars as a JSON object; "" when none was asked for. A name that no variable has is null.
std::string output_data_json(const TurnResult& turn, const RequestOptions& options);

std::string_view to_string(Outcome outcome);  // "passed", "modified", "blocked", "failed"

}  // namespace stackgate::guardrail
