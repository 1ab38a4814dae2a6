// Workflows and WorkflowTemplates as JSON. Pure. Source: Argo Workflows' fields.md, v3.5 (apiVersion
// argoproj.io/v1alpha1).
#pragma once
#include <string>
#include <string_view>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/workflow/protocol/options.hpp"
#include "services/evaluator/workflow/protocol/program.hpp"

namespace stackgate::evaluator {

inline constexpr std::string_view evaluation_label = "stackgate.dev/evaluation";

/// A DNS label of at most 63 characters: the id itself where it is one.
std::string workflow_name(std::string_view id);

/// {"workflow": {…}}: the body of POST /api/v1/workflows/{namespace}. `dry_run`: all is checked and nothing made.
std::string submit_body(const EvaluationRequest& request, std::string_view id, const WorkflowOptions& options,
                        bool dry_run = false);
/// {"resourceKind": "WorkflowTemplate", …}: the body of POST /api/v1/workflows/{namespace}/submit.
std::string submit_template_body(const EvaluationRequest& request, std::string_view id, const WorkflowOptions& options,
                                 bool dry_run = false);

/// Of a framework whose image is configured.
std::string workflow_template(const FrameworkProgram& program, const WorkflowOptions& options);
/// "<prefix>-lm-eval-harness"
std::string template_name(Framework framework, const WorkflowOptions& options);

}  // namespace stackgate::evaluator
