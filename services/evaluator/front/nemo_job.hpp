// A job as NeMo's evaluator takes it, {"target", "config"}, as a body of this service. Pure.
#pragma once
#include <expected>
#include <string>

#include "services/kit/findings/finding.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::evaluator {

/// Targets of type "model" and "rows", configurations that stand in the body; the findings say what else it names.
std::expected<std::string, validate::Findings> own_body(const json::Value& job);

}  // namespace stackgate::evaluator
