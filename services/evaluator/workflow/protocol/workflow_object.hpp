// What a workflow server says, read with limits: whatever is missing or of another type reads as nothing. Pure.
// Source: Argo Workflows' API: Workflow, WorkflowWatchEvent, LogEntry, and grpc-gateway's errors.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/json/value.hpp"

namespace stackgate::evaluator {

/// "" and words that are none of these are `unknown`.
enum class WorkflowPhase : std::uint8_t { unknown, pending, running, succeeded, failed, error };
WorkflowPhase phase_named(std::string_view name);
std::string_view to_string(WorkflowPhase phase);
constexpr bool is_final(WorkflowPhase phase) { return phase >= WorkflowPhase::succeeded; }

/// What archiveLogs makes of a pod's log.
inline constexpr std::string_view log_artifact = "main-logs";

/// Of a Workflow. status.nodes may be compressed, or offloaded: nothing depends on it.
struct WorkflowFacts {
  std::string name{}, uid{};
  std::string evaluation{};  // the label
  WorkflowPhase phase = WorkflowPhase::unknown;
  std::string message{};                // its first 2,000 bytes
  std::optional<double> progress{};     // "1/4" as 25
  std::string results{};                // the output parameter "results"
  std::vector<std::string> archived{};  // ids of nodes whose pods' logs are artifacts
};
WorkflowFacts read_workflow(const json::Value& workflow);
/// What is asked for of a workflow, so that large ones stay small: ?fields=….
inline constexpr std::string_view workflow_fields =
    "metadata.name,metadata.uid,metadata.labels,status.phase,status.message,status.progress";
inline constexpr std::string_view outputs_fields =
    "metadata.name,metadata.uid,metadata.labels,status.phase,status.message,status.progress,status.outputs";

inline constexpr std::string_view nodes_fields = "metadata.name,metadata.uid,metadata.labels,status.phase,status.nodes";

/// ADDED, MODIFIED, DELETED with the workflow.
struct WorkflowEvent {
  bool deleted = false;
  WorkflowFacts workflow{};
};
WorkflowEvent read_event(const json::Value& result);

struct LogEntry {
  std::string_view content{}, pod{};
};
/// The views are of the document.
LogEntry read_log_entry(const json::Value& result);

/// What is wrong, of {"code", "message"} or {"error": …}; the text itself, shortened, where it is none of them.
std::string gateway_message(std::string_view body);
/// A sentence with the cure: "the workflow server does not let us list workflows (403): …". `action`: "list workflows".
std::string status_words(int status, std::string_view action, std::string_view body);

}  // namespace stackgate::evaluator
