// One evaluation as a process on this machine, where no workflow server is configured. See run.hpp.
#pragma once
#include <string>

#include "services/evaluator/workflow/run.hpp"

namespace stackgate::evaluator {

std::expected<WorkflowResults, WorkflowFailure> run_process(const EvaluationRequest& request, std::string_view id,
                                                            const WorkflowOptions& options, const WorkflowWatch& watch);

/// Whether PATH has it.
bool is_installed(std::string_view program);

}  // namespace stackgate::evaluator
