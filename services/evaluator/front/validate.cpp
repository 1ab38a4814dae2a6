#include "services/evaluator/front/validate.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/evaluator/api/known_tasks.hpp"
#include "services/evaluator/runs/adapter.hpp"
#include "services/evaluator/sandbox/sandbox.hpp"
#include "services/evaluator/suite/make_tasks.hpp"
#include "services/kit/base/number.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/findings/nearest.hpp"
#include "services/kit/web/body_schema.hpp"
#include "services/kit/web/errors.hpp"

namespace stackgate::evaluator {
namespace validate_detail {

using validate::Findings;

constexpr int retry_seconds = 5;
constexpr std::chrono::milliseconds adapter_limit{3'000};

std::unexpected<web::Failure> refused(std::string path, std::string problem, std::string fix) {
  return std::unexpected(web::unprocessable(
      {{.rule = "evaluation-dataset", .path = std::move(path), .problem = std::move(problem), .fix = std::move(fix)}}));
}

std::unexpected<web::Failure> refused(DataFault fault) {
  if (fault.away)
    return std::unexpected(
        web::busy(fmt::format("the data set cannot be looked at: {}", fault.message), retry_seconds));
  return refused("dataset", std::move(fault.message), "name one that the datastore has, such as \"ada/questions\"");
}

/// A place in the data set's files, reported at the member that names them.
validate::Finding in_body(validate::Finding finding, bool is_inline) {
  if (finding.rule != "evaluation-data") return finding;
  if (!is_inline) {
    finding.problem = fmt::format("{} {}", finding.path, finding.problem);
    finding.path = "dataset";
    return finding;
  }
  const std::size_t colon = finding.path.rfind(':');
  const auto line = colon == std::string::npos
                        ? std::nullopt
                        : to_number<std::uint64_t>(std::string_view(finding.path).substr(colon + 1));
  finding.path = line && *line > 0 ? fmt::format("rows[{}]", *line - 1) : "rows";
  return finding;
}

std::expected<void, web::Failure> check_rows(const EvaluationRequest& request, const DataSource& data,
                                             Findings& warnings) {
  const bool is_inline = !request.inline_rows.empty();
  Findings findings, notes;
  const auto tasks = make_tasks(request, data, &notes);
  for (const validate::Finding& each : notes) warnings.push_back(in_body(each, is_inline));
  if (tasks) return {};
  for (const validate::Finding& each : tasks.error()) findings.push_back(in_body(each, is_inline));
  return std::unexpected(web::unprocessable(std::move(findings)));
}

std::expected<void, web::Failure> check_dataset(const Front& front, EvaluationRequest& request, Findings& warnings) {
  if (!request.inline_rows.empty()) return check_rows(request, inline_source(request.inline_rows), warnings);
  if (request.dataset.repository.empty()) return {};
  if (!front.options.datasets)
    return refused("dataset", "cannot be read: this service was started without --datastore-url",
                   "give the service --datastore-url");
  const auto until = std::chrono::steady_clock::now() + front.options.validation_limit;
  const Datasets datasets = front.options.datasets([until] { return std::chrono::steady_clock::now() > until; });
  auto commit = pin_dataset(*datasets, request.dataset);
  if (!commit) return refused(std::move(commit.error()));
  request.dataset.revision = std::move(*commit);
  // An image reads it in its own way.
  if (request.engine != Engine::native) return {};
  auto data = open_dataset(datasets, request.dataset, {.beginning = true});
  if (!data) return refused(std::move(data.error()));
  return check_rows(request, *data, warnings);
}

/// Programs that cannot be run here would end the run before its first question.
void check_sandbox(Findings& findings) {
  const auto can = Sandbox({}).check();
  if (can) return;
  findings.push_back({.rule = "evaluation-sandbox",
                      .path = "framework",
                      .problem = can.error(),
                      .fix =
                          "run this service where Python 3 is installed and Landlock (Linux 5.13) or user namespaces "
                          "are allowed, or write \"params\": {\"engine\": \"workflow\"}, so that an image runs them"});
}

void warn_of_unknown_tasks(const EvaluationRequest& request, Findings& warnings) {
  const auto known = known_tasks(request.framework);
  if (request.engine == Engine::native || known.empty()) return;
  for (std::size_t i = 0; i < request.tasks.size(); ++i) {
    if (std::ranges::find(known, request.tasks[i]) != known.end()) continue;
    const std::string_view near = validate::nearest(request.tasks[i], known);
    warnings.push_back({.rule = "evaluation-task",
                        .severity = validate::Severity::warning,
                        .path = fmt::format("tasks[{}]", i),
                        .problem = fmt::format("\"{}\" is no task that this service has heard of", request.tasks[i]),
                        .fix = near.empty() ? std::string("look at the harness's list of tasks")
                                            : fmt::format("did you mean \"{}\"?", near)});
  }
}

}  // namespace validate_detail

using namespace validate_detail;

std::expected<void, web::Failure> validate_evaluation(const Front& front, EvaluationRequest& request,
                                                      validate::Findings& warnings) {
  warn_of_unknown_tasks(request, warnings);
  Findings findings;
  if (request.engine == Engine::workflow) {
    findings = check_workflow(request, front.options.workflow);
    // What is wrong already would only be refused once more.
    if (!validate::has_errors(findings))
      for (validate::Finding& each : check_workflow_server(request, front.options.workflow))
        findings.push_back(std::move(each));
  } else if (request.retrieval.index == RetrievalSettings::Index::vector_db && !front.options.vector_database) {
    findings.push_back({.rule = "evaluation-value",
                        .path = "params.index",
                        .problem = "no vector database is configured",
                        .fix = "write \"hnsw\", or give the service --vector-db-url"});
  }
  if (request.engine == Engine::native && request.framework == Framework::bigcode_eval_harness) check_sandbox(findings);
  const bool wrong = validate::has_errors(findings);
  for (validate::Finding& each : findings)
    if (each.severity == validate::Severity::warning) warnings.push_back(each);
  if (wrong) return std::unexpected(web::unprocessable(std::move(findings)));
  return check_dataset(front, request, warnings);
}

std::string adapter_of(const Front& front, const EvaluationRequest& request, validate::Findings& warnings) {
  if (front.options.entitystore.empty() || request.target.model.empty()) return {};
  auto found = look_up_adapter(front.options.entitystore, request.target.model, validate_detail::adapter_limit);
  const auto warn = [&](std::string problem, std::string fix) {
    warnings.push_back({.rule = "evaluation-adapter",
                        .severity = validate::Severity::warning,
                        .path = "model",
                        .problem = std::move(problem),
                        .fix = std::move(fix)});
  };
  if (!found)
    warn(fmt::format("could not be looked up: {}", found.error()), "look at the entitystore, if it is an adapter");
  else if (!found->problem.empty())
    warn(found->problem, "set its status to ready there: inference servers load no other");
  return found ? std::move(found->json) : std::string();
}

}  // namespace stackgate::evaluator
