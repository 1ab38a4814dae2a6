#include "services/evaluator/workflow/run.hpp"

#include <fmt/format.h>

#include "services/evaluator/workflow/argo_server.hpp"
#include "services/evaluator/workflow/process_run.hpp"
#include "services/evaluator/workflow/protocol/program.hpp"
#include "services/evaluator/workflow/protocol/workflow_json.hpp"
#include "services/evaluator/workflow/workflow_run.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/yaml_writer/write.hpp"

namespace stackgate::evaluator {
namespace run_detail {

validate::Finding finding(std::string path, std::string problem, std::string fix) {
  return {.rule = "evaluation-workflow", .path = std::move(path), .problem = std::move(problem), .fix = std::move(fix)};
}

void check_server(const EvaluationRequest& request, const FrameworkProgram& program, const WorkflowOptions& options,
                  validate::Findings& out) {
  if (options.image(program.framework).empty() && options.template_prefix.empty())
    out.push_back(finding("framework", fmt::format("no image of {} is configured", to_string(program.framework)),
                          fmt::format("set {} (spec.evaluationImages.{} of the StackEvaluator)", program.image_variable,
                                      program.image_field)));
  const auto key = [&](std::string path, const std::string& value, std::string_view name) {
    if (!value.empty())
      out.push_back(finding(std::move(path), "would have to be written into the workflow, where others read it",
                            fmt::format("put it into the Secret {} in the namespace {} under \"{}\", and leave it out",
                                        options.api_key_secret, options.kubernetes_namespace, name)));
  };
  key("api_key", request.target.api_key, "model");
  if (request.judge) key("judge.api_key", request.judge->api_key, "judge");
  if (request.embeddings) key("embeddings.api_key", request.embeddings->api_key, "embeddings");
}

std::expected<void, ServerFault> try_submit(const ArgoServer& server, const EvaluationRequest& request,
                                            const WorkflowOptions& options) {
  const bool by_template = !options.template_prefix.empty();
  const auto made = server.submit((by_template ? submit_template_body : submit_body)(request, "dry-run", options, true),
                                  by_template, {});
  if (!made) return std::unexpected(made.error());
  return {};
}

}  // namespace run_detail

validate::Findings check_workflow(const EvaluationRequest& request, const WorkflowOptions& options) {
  using namespace run_detail;
  const FrameworkProgram* program = program_of(request.framework);
  if (program == nullptr)
    return {finding("framework", "custom tasks are run by this service alone",
                    "leave out params.engine, or name the framework of an image")};
  const bool on_server = !options.server_url.empty();
  validate::Findings out = check_variables(request, on_server);
  if (on_server)
    check_server(request, *program, options, out);
  else if (!is_installed(program->program))
    out.push_back(finding("framework", fmt::format("{} is not installed on this machine", program->program),
                          "set --workflow-server-url, so that it runs as a workflow, or install it"));
  return out;
}

validate::Findings check_workflow_server(const EvaluationRequest& request, const WorkflowOptions& options) {
  if (options.server_url.empty()) return {};
  const ArgoServer server(options);
  auto asked = server.try_list();
  if (asked) asked = run_detail::try_submit(server, request, options);
  if (asked) return {};
  validate::Finding out = run_detail::finding("framework", asked.error().message, "see the message");
  if (const std::size_t cure = out.problem.find("; "); cure != std::string::npos) {
    out.fix = out.problem.substr(cure + 2);
    out.problem.resize(cure);
  }
  if (asked.error().passes()) {
    out.severity = validate::Severity::warning;
    out.fix = "the evaluation waits for it";
  }
  return {std::move(out)};
}

std::expected<WorkflowResults, WorkflowFailure> run_workflow(const EvaluationRequest& request, std::string_view id,
                                                             const WorkflowOptions& options,
                                                             const WorkflowWatch& watch) {
  for (const validate::Finding& each : check_workflow(request, options))
    if (each.severity == validate::Severity::error)
      return std::unexpected(WorkflowFailure{.message = fmt::format("{}: {}; {}", each.path, each.problem, each.fix)});
  return options.server_url.empty() ? run_process(request, id, options, watch)
                                    : run_on_server(request, id, options, watch);
}

std::string delete_workflow(std::string_view id, const WorkflowOptions& options) {
  if (options.server_url.empty()) return {};
  const ArgoServer server(options);
  const std::string name = workflow_name(id);
  // Only what is ours, and nothing that another evaluation's name hides.
  const auto facts = server.get(name, workflow_fields, {});
  if (!facts) return facts.error().message;
  if (!*facts || (*facts)->evaluation != name) return {};
  const auto removed = server.remove(name, {});
  return removed ? std::string() : removed.error().message;
}

std::string workflow_templates_yaml(const WorkflowOptions& options) {
  std::string out;
  for (const FrameworkProgram& each : framework_programs()) {
    if (options.image(each.framework).empty()) continue;
    json::Document document;
    const std::string text = workflow_template(each, options);
    const auto tree = json::parse(text, document);
    if (!tree) continue;
    if (!out.empty()) out += "---\n";
    out += yaml::to_yaml(*tree);
  }
  return out;
}

}  // namespace stackgate::evaluator
