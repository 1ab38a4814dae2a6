// The state machine of an InferencePipeline: its InferenceServices → Status.
// The table of its states stands in STATES.md beside this file.
// Pure and thread-safe.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "reconcile/status/status.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::reconcile {

/// An enabled entry of the pipeline.
struct PipelineEntry {
  std::string name;
  const json::Value* service = nullptr;  // its InferenceService, owned by the pipeline; nullptr when there is none
  bool name_taken = false;               // there is one of that name, and it is not the pipeline's
  std::vector<std::string> needs = {};   // names of other entries
};

/// State, services, the condition Ready and, where an entry needs another one, the condition DependenciesReady.
/// Reasons: AllServicesReady, NothingEnabled; NameTaken, ServiceFailed, ServicesNotReady, ServicesUnknown. A condition
/// names the services in the order of the entries, five at most.
Status pipeline_status(std::span<const PipelineEntry> entries);

}  // namespace stackgate::reconcile
