#include <fmt/format.h>

#include "services/kit/grammar/characters.hpp"
#include "validators/rules/common.hpp"
#include "validators/rules/kinds.hpp"
#include "validators/rules/stack_parts.hpp"

namespace stackgate::validate {
namespace evaluator {

void check_images(Context& context, const Field& images) {
  if (!images) return;
  for (const auto& [framework, word] : evaluation_frameworks) {
    const Field image = images[framework];
    if (image)
      check_image_reference(context, image);
    else if (!images.has_misspelt(framework))
      context.report(rule::evaluation_image_missing, image,
                     "there is no image for this framework, and each of the nine needs one",
                     fmt::format("add {}: <repository>:<tag>", framework));
  }
}

void check_workflows(Context& context, const Field& object, const Field& server) {
  const Field endpoint = server["endpoint"];
  check_service_endpoint(context, object, endpoint);
  check_object_name(context, server["serviceAccount"]);
  const auto text = endpoint.text();
  if (text && grammar::to_lower(text->substr(0, 7)) == "http://")
    context.report(rule::workflow_server_plain_http, endpoint,
                   "the workflow server speaks HTTPS unless it was told otherwise",
                   "write https://, or see that the server runs without TLS");
}

void check_levels(Context& context, const Field& spec) {
  const Field console = spec["consoleLogLevel"];
  if (!console) return;
  if (!spec["logHandlers"])
    context.report(rule::console_level_ignored, console, "has no effect without the console handler",
                   "write logHandlers: console, or remove consoleLogLevel");
  else if (console.text() == "DEBUG" && spec["evalLogLevel"].text() == "INFO")
    context.report(rule::console_level_ignored, console, "has no effect: evalLogLevel lets nothing below INFO through",
                   "write evalLogLevel: DEBUG, or remove consoleLogLevel");
}

}  // namespace evaluator

void check_stack_evaluator(Context& context, Field object) {
  const Field spec = object["spec"];
  const Field datastore = spec["datastore"]["endpoint"];
  const Field entitystore = spec["entitystore"]["endpoint"];
  evaluator::check_workflows(context, object, spec["workflowServer"]);
  check_vector_database_endpoint(context, object, spec["vectorDB"]["endpoint"]);
  check_service_endpoint(context, object, datastore);
  check_endpoint_suffix(context, rule::evaluator_datastore_suffix, datastore, "/v1/hf",
                        "the evaluator's datastore endpoint");
  check_service_endpoint(context, object, entitystore);
  check_endpoints_differ(context, datastore, entitystore);
  evaluator::check_levels(context, spec);
  evaluator::check_images(context, spec["evaluationImages"]);
}

}  // namespace stackgate::validate
