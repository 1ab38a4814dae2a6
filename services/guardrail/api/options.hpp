// `options` of a request. Source: NeMo Guardrails, "Generation Options". Pure.
#pragma once
#include "services/guardrail/api/request.hpp"

namespace stackgate::guardrail {

RequestOptions read_options(const validate::JsonPlace& at, validate::Findings& findings);

}  // namespace stackgate::guardrail
