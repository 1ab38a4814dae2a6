#include <array>
#include <string>

#include <fmt/format.h>

#include "services/kit/grammar/names.hpp"
#include "validators/rules/common.hpp"
#include "validators/rules/context.hpp"
#include "validators/rules/kinds.hpp"
#include "validators/rules/stack_parts.hpp"

namespace stackgate::validate {

namespace {

namespace scheduler_rules {

constexpr std::string_view default_type = "gang";
constexpr std::string_view default_dialect = "runai";

/// A queue is an object, and jobs name it in a label: both grammars hold. Run:ai's projects become part of a
/// namespace's name, so theirs is a single DNS label.
void check_queue_name(Context& context, const Field& queue, std::string_view name, std::string_view dialect) {
  auto bad = dialect == "runai" ? grammar::check_dns_label(name) : grammar::check_dns_subdomain(name);
  if (!bad) bad = grammar::check_label_value(name);
  if (bad) context.report(rule::queue_name_invalid, queue, bad->problem, bad->fix);
}

void check_missing(Context& context, const Field& queue, std::string_view dialect) {
  // Run:ai takes the project of the namespace when a job names none.
  if (dialect == "runai") return;
  context.report(rule::queue_name_missing, queue,
                 dialect == "kueue" ? "without a queue name Kueue does not manage the jobs: they start past every quota"
                                    : "without a queue name KAI leaves the jobs Pending",
                 "write the name of the queue that training jobs shall wait in");
}

}  // namespace scheduler_rules

/// `spec.scheduler` and `spec.trainingConfig.queueName`.
void check_scheduler(Context& context, Field spec) {
  using namespace scheduler_rules;
  const Field scheduler = spec["scheduler"];
  const std::string_view type = scheduler["type"].text().value_or(default_type);
  const Field dialect = scheduler["queueDialect"];
  const Field queue = spec["trainingConfig"]["queueName"];
  const auto name = queue.text();
  if (type == "gang") {
    if (dialect)
      context.report(rule::queue_dialect_needs_queue, dialect,
                     "a queue dialect has no meaning with the scheduler type gang",
                     "write type: queue, or remove queueDialect");
    if (queue)
      context.report(rule::queue_name_ignored, queue, "a queue name has no effect with the scheduler type gang",
                     "write scheduler: {type: queue}, or remove queueName");
    return;
  }
  if (type != "queue") return;
  const std::string_view spoken = dialect.text().value_or(default_dialect);
  if (!name) {
    if (spec["trainingConfig"] && !queue && !spec["trainingConfig"].has_misspelt("queueName"))
      check_missing(context, queue, spoken);
  } else if (!name->empty()) {
    check_queue_name(context, queue, *name, spoken);
  }
}

}  // namespace

namespace customizer {

struct TrackerNeed {
  const char* field;
  const char* what;
};
constexpr std::array<TrackerNeed, 3> tracker_needs{
    {{"secretName", "the Secret with its API key and its encryption key"},
     {"apiKeyKey", "the name of the Secret's entry that holds the API key"},
     {"encryptionKey", "the name of the Secret's entry that holds the key for encryption"}}};

void check_tracker(Context& context, const Field& tracker) {
  if (!tracker) return;
  const Field api_key = tracker["apiKeyKey"];
  const Field encryption = tracker["encryptionKey"];
  for (const auto& [name, what] : tracker_needs)
    if (!tracker[name] && !tracker.has_misspelt(name))
      context.report(rule::tracker_incomplete, tracker[name], fmt::format("a tracker needs {}", what),
                     fmt::format("add {}, or take experimentTracker out", name));
  check_object_name(context, tracker["secretName"]);
  check_secret_key(context, api_key);
  check_secret_key(context, encryption);
  if (api_key && encryption && !api_key.text().value_or("").empty() && api_key.text() == encryption.text())
    context.report(rule::tracker_keys_identical, encryption, "names the same entry of the Secret as apiKeyKey",
                   "name another entry, one that holds a key made for encryption only");
  for (const char* name : {"entity", "projectName"})
    if (tracker[name] && tracker[name].text() == "")
      context.report(rule::tracker_name_empty, tracker[name], "an empty text is sent as it stands, and refused",
                     "write a name, or remove the field");
}

void check_downloads(Context& context, const Field& downloads) {
  if (!downloads) return;
  check_image_reference(context, downloads["image"]);
  check_object_name(context, downloads["registryApiSecret"]["name"]);
  check_secret_key(context, downloads["registryApiSecret"]["key"]);
  check_security_context(context, downloads["securityContext"]);
  const Field keep = downloads["ttlSecondsAfterFinished"];
  const auto seconds = keep.integer();
  const auto poll = downloads["pollIntervalSeconds"].integer();
  if (seconds && poll && *seconds < *poll)
    context.report(rule::download_ttl_below_poll, keep,
                   fmt::format("a finished job is removed before the next poll, {} seconds later, has seen it", *poll),
                   fmt::format("write {} or more, or leave the field out", *poll * 2));
}

/// The operator writes how jobs run into a ConfigMap of its own: a ConfigMap of the user's must not have its name.
void check_own_config_map(Context& context, const Field& object) {
  const auto name = object["metadata"]["name"].text();
  if (!name || name->empty()) return;
  const std::string own = fmt::format("{}-jobs", *name);
  const Field spec = object["spec"];
  for (const Field& reference : {spec["modelConfig"]["name"], spec["trainingConfig"]["configMap"]["name"]})
    if (reference.text() == own)
      context.report(rule::child_name_taken, reference,
                     "the operator makes a ConfigMap of this name for the customizer's jobs",
                     "give your ConfigMap another name");
}

}  // namespace customizer

void check_stack_customizer(Context& context, Field object) {
  const Field spec = object["spec"];
  check_scheduler(context, spec);
  const Field datastore = spec["datastore"]["endpoint"];
  const Field entitystore = spec["entitystore"]["endpoint"];
  check_service_endpoint(context, object, entitystore);
  check_service_endpoint(context, object, datastore);
  check_service_endpoint(context, object, spec["trackingServer"]["endpoint"]);
  check_datastore_root(context, datastore);
  check_endpoints_differ(context, datastore, entitystore);
  customizer::check_tracker(context, spec["experimentTracker"]);
  check_image_reference(context, spec["datastoreTools"]["image"]);
  customizer::check_downloads(context, spec["modelDownloadJobs"]);
  check_object_name(context, spec["modelConfig"]["name"]);
  customizer::check_own_config_map(context, object);
  check_training(context, spec["trainingConfig"]);
  check_volumes(context, spec);
}

}  // namespace stackgate::validate
