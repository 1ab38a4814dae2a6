#include <string>

#include "reconcile/plan/kinds.hpp"
#include "reconcile/plan/stack_common.hpp"
#include "validators/rules/stack_parts.hpp"

namespace stackgate::reconcile {
namespace evaluator {

using parts::PolicyRule;

/// The workflow server acts with the caller's token: what the evaluator may not do, the server does not do for it.
std::vector<PolicyRule> own_rights() {
  return {{{"argoproj.io"}, {"workflows"}, {"create", "get", "list", "watch", "patch", "delete"}},
          {{""}, {"pods"}, {"get", "list", "watch"}},
          {{""}, {"pods/log"}, {"get"}}};
}

/// Of the ServiceAccount that workflow pods run as: the specification's, word for word.
std::vector<PolicyRule> workflow_rights(const Settings& settings) {
  std::vector<PolicyRule> rights{{{""}, {"pods", "pods/log"}, {"get", "watch", "list", "create", "delete"}},
                                 {{""}, {"secrets"}, {"get"}}};
  // The executor of Argo Workflows 3.4 and later reports its results there.
  if (settings.workflow_task_results) rights.push_back({{"argoproj.io"}, {"workflowtaskresults"}, {"create", "patch"}});
  return rights;
}

void use_endpoints(const parts::Scope& scope, parts::Workload& workload) {
  const parts::Field& spec = scope.spec;
  workload.main.env.push_back(pods::env_from_field("STACKGATE_NAMESPACE", "metadata.namespace"));
  stack::put_text(workload, "STACKGATE_WORKFLOW_SERVER_URL", spec["workflowServer"]["endpoint"]);
  stack::put_text(workload, "STACKGATE_WORKFLOW_SERVICE_ACCOUNT", spec["workflowServer"]["serviceAccount"]);
  stack::put_text(workload, "STACKGATE_VECTOR_DB_URL", spec["vectorDB"]["endpoint"]);
  stack::put_text(workload, "STACKGATE_DATASTORE_URL", spec["datastore"]["endpoint"]);
  stack::put_text(workload, "STACKGATE_ENTITYSTORE_URL", spec["entitystore"]["endpoint"]);
}

void use_images(const parts::Scope& scope, parts::Workload& workload) {
  workload.main.env.push_back(pods::env_text("STACKGATE_IMAGE", workload.main.image));
  std::string secrets;
  for (const std::string& each : workload.pod.pull_secrets) secrets += (secrets.empty() ? "" : ",") + each;
  if (!secrets.empty()) workload.main.env.push_back(pods::env_text("STACKGATE_IMAGE_PULL_SECRETS", secrets));
  const parts::Field images = scope.spec["evaluationImages"];
  for (const validate::EvaluationFramework& each : validate::evaluation_frameworks)
    stack::put_text(workload, "STACKGATE_EVALUATION_IMAGE_" + std::string(each.word), images[each.field]);
}

}  // namespace evaluator

void plan_stack_evaluator(const Planning& planning) {
  const parts::Scope scope(planning);
  const parts::Field& spec = scope.spec;
  parts::Workload workload = stack::begin(scope);
  evaluator::use_endpoints(scope, workload);
  stack::sign_in_to_datastore(scope, workload);
  stack::put_text(workload, "STACKGATE_EVAL_LOG_LEVEL", spec["evalLogLevel"]);
  stack::put_text(workload, "STACKGATE_LOG_HANDLERS", spec["logHandlers"]);
  stack::put_text(workload, "STACKGATE_CONSOLE_LOG_LEVEL", spec["consoleLogLevel"]);
  workload.main.env.push_back(pods::env_value("STACKGATE_ENABLE_VALIDATION",
                                              spec["enableValidation"].flag().value_or(true) ? "true" : "false"));
  evaluator::use_images(scope, workload);
  workload.rights = evaluator::own_rights();
  parts::add_rights(scope, scope.name + "-workflows", spec["workflowServer"]["serviceAccount"].text().value_or(""),
                    evaluator::workflow_rights(planning.settings));
  stack::finish(scope, std::move(workload));
}

}  // namespace stackgate::reconcile
