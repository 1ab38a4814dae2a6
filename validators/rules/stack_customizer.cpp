#include <array>

#include <fmt/format.h>

#include "validators/rules/common.hpp"
#include "validators/rules/kinds.hpp"
#include "validators/rules/stack_endpoint.hpp"
#include "validators/rules/stack_scheduler.hpp"
#include "validators/rules/stack_training.hpp"
#include "validators/rules/stack_volume.hpp"

namespace stackgate::validate {
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
