// An evaluation whose framework is no part of this service: as a workflow of an Argo Workflows server, or, where none
// is configured, as a process on this machine. Both have the same phases, and run the same command (protocol/program).
//
//   pending ──▶ running ──▶ results read
//      └───────────┴──▶ stopped, failed
//
// The functions block and are thread-safe. Source: Argo Workflows' API (v3.4 and later).
#pragma once
#include <expected>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/suite/task.hpp"
#include "services/evaluator/workflow/protocol/framework_samples.hpp"
#include "services/evaluator/workflow/protocol/options.hpp"
#include "services/kit/findings/finding.hpp"

namespace stackgate::evaluator {

using StoredFiles = std::map<std::string, std::string, std::less<>>;

/// What happens meanwhile. Called on any thread, one call at a time; each may be empty.
struct WorkflowWatch {
  std::function<void(std::string_view message)> event{};  // "the workflow is running", "the workflow server is away: …"
  std::function<void(std::string_view line)> log{};       // of the framework, as it writes them
  std::function<void(double percent, std::string_view words)> progress{};  // 0 to 100, never less than before
  /// What the framework left at `results_repository`: files by their names, "results.json" and samples_*.jsonl; empty:
  /// nothing. The error: the datastore is away.
  std::function<std::expected<StoredFiles, std::string>()> stored{};
  std::function<bool()> stop{};   // asked a few times a second; true terminates it
  std::function<bool()> leave{};  // likewise; true returns and leaves the workflow as it is: this process ends
};

struct WorkflowFailure {
  std::string message{};  // why, and what to do about it
  bool stopped = false;   // as WorkflowWatch::stop or leave wanted
  bool away = false;      // the server could not be asked for as long as `patience`: it may go on later
};

struct WorkflowResults {
  std::vector<TaskResult> tasks{};
  std::vector<FrameworkSample> samples{};  // where the framework keeps records of them
  std::string text{};                      // the framework's results.json as it wrote it
  std::vector<std::string> log_tail{};     // the last lines
};

/// From nothing to its results. It goes on with a workflow of this evaluation that is there already, so that who calls
/// it again after a crash gets the same results. `id`: the evaluation's; a workflow's name is made of it.
std::expected<WorkflowResults, WorkflowFailure> run_workflow(const EvaluationRequest& request, std::string_view id,
                                                             const WorkflowOptions& options,
                                                             const WorkflowWatch& watch);

/// What is known to be wrong with it before it runs: no image for the framework, a key that no workflow can get, a
/// program that is not installed. No call is made.
validate::Findings check_workflow(const EvaluationRequest& request, const WorkflowOptions& options);

/// Whether the server lets us list workflows and would make this one, asked by a dry run: an error for 400, 401, 403
/// and 404, a warning where it cannot be asked now.
validate::Findings check_workflow_server(const EvaluationRequest& request, const WorkflowOptions& options);

/// Ends what is left of it on the server, and removes it. A sentence, or nothing: done, or it is not there.
std::string delete_workflow(std::string_view id, const WorkflowOptions& options);

/// The WorkflowTemplates of all configured images as YAML documents, for `stackgate-evaluator templates`; images that
/// are not configured are left out.
std::string workflow_templates_yaml(const WorkflowOptions& options);

}  // namespace stackgate::evaluator
