// A job as NeMo's evaluator takes it, {"target", "config"}, as a body of this service. Pure.
#pragma once
#include <expected>
#include <string>

#include "services/kit/findings/finding.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::evaluator {

/// Targets of type model, rows, dataset, retriever and rag; configurations of the frameworks, of benchmarks by name,
/// and "custom" ones whose task has metrics. The findings say what else it names: targets and configurations by
/// reference, cached outputs, rerankers.
std::expected<std::string, validate::Findings> own_body(const json::Value& job);

}  // namespace stackgate::evaluator
