// One evaluation as a workflow: the calls that protocol/next_step asks for. See run.hpp.
#pragma once
#include "services/evaluator/workflow/run.hpp"

namespace stackgate::evaluator {

std::expected<WorkflowResults, WorkflowFailure> run_on_server(const EvaluationRequest& request, std::string_view id,
                                                              const WorkflowOptions& options,
                                                              const WorkflowWatch& watch);

}  // namespace stackgate::evaluator
