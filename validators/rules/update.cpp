// What cannot change once it is stored.
#include <fmt/format.h>

#include "services/kit/findings/quoting.hpp"
#include "validators/rules/claim_growth.hpp"
#include "validators/rules/common/single_values.hpp"
#include "validators/rules/kinds.hpp"
#include "validators/rules/references_ask.hpp"

namespace stackgate::validate {
namespace {

bool unchanged(const Field& now, const Field& before) {
  if (now.absent() || before.absent()) return now.absent() == before.absent();
  return json::equal(*now.value(), *before.value());
}

/// Each changed leaf below `now`. Values are compared as they are written, as the CRD's own rule compares them: 10Gi
/// and 10240Mi are two texts.
void report_changes(Context& context, const Rule& rule, const Field& now, const Field& before, std::string_view what) {
  if (unchanged(now, before)) return;
  const bool both_objects =
      now.present() && before.present() && now.value()->is_object() && before.value()->is_object();
  if (!both_objects) {
    const std::string had = quoted_value(to_string(before.path()), before.value());
    context.report(rule, now,
                   before.absent() ? fmt::format("cannot be added: {}", what)
                   : now.absent()  ? fmt::format("cannot be taken out: {}", what)
                                   : fmt::format("cannot be changed: {}", what),
                   had.empty() ? "leave it as it was, or create another one"
                               : fmt::format("leave it at {}, or create another one", had));
    return;
  }
  for (const Field member : now.entries()) report_changes(context, rule, member, before[member.key()], what);
  for (const Field member : before.entries())
    if (now.value()->find(member.key()) == nullptr) report_changes(context, rule, now[member.key()], member, what);
}

/// A PersistentVolumeClaim's class and mode are fixed, and it can only grow.
/// Source: k8s.io/kubernetes/pkg/apis/core/validation, ValidatePersistentVolumeClaimUpdate.
void check_created_claim_update(Context& context, const Field& now, const Field& before) {
  const auto created = [](const Field& pvc) { return pvc["create"].flag().value_or(false); };
  if (!created(now) || !created(before) || !unchanged(now["name"], before["name"])) return;
  for (const char* fixed : {"storageClass", "volumeAccessMode"})
    if (!unchanged(now[fixed], before[fixed]))
      report_changes(context, rule::claim_immutable, now[fixed], before[fixed], "the claim exists already");
  const Field size = now["size"];
  const auto wanted = quantity_of(size);
  const auto had = quantity_of(before["size"]);
  if (wanted && had && *wanted < *had)
    context.report(
        rule::claim_immutable, size,
        fmt::format("is smaller than the {} that the claim has; a claim can only grow", *before["size"].text()),
        fmt::format("write at least {}", *before["size"].text()));
}

/// How far the download is, by the status as it is stored.
enum class Download : std::uint8_t { not_begun, begun, complete };

Download download_of(const Field& status) {
  const auto state = status["state"].text().value_or("");
  if (state == "Ready") return Download::complete;
  // NotReady: the model is lost, and a Job that is still to be made will have the new settings.
  if (state.empty() || state == "NotReady" || state == "Unknown") return Download::not_begun;
  for (const Field condition : status["conditions"].items()) {
    if (condition["type"].text() != "Ready") continue;
    const auto reason = condition["reason"].text().value_or("");
    for (const char* without_job : {"Creating", "NoImage", "NameTaken", "Invalid"})
      if (reason == without_job) return Download::not_begun;
  }
  return Download::begun;
}

/// The Job is made once and then left as it is (its template cannot be changed).
void check_begun_download(Context& context, const Field& object, const Field& old) {
  const Download download = download_of(old["status"]);
  if (download == Download::not_begun) return;
  const std::string_view ns = namespace_of(context, object);
  const auto name = object["metadata"]["name"].text().value_or("");
  for (const char* of_job : {"userID", "groupID", "proxy", "resources", "tolerations", "nodeSelector"}) {
    const Field now = object["spec"][of_job];
    if (unchanged(now, old["spec"][of_job])) continue;
    if (download == Download::complete)
      // No command to copy: it would delete the model.
      context.report(rule::cache_job_exists, now, "has no effect: the model is downloaded already",
                     "leave it as it was, or delete the cache and create it anew with this");
    else
      context.report(rule::cache_job_exists, now, "has no effect on the Job that downloads, which exists already",
                     fmt::format("to begin anew with it: `kubectl delete job {} -n {}`", name, ns));
  }
}

}  // namespace

void check_update(Context& context, Field object, Field old) {
  const Field now = object["spec"];
  const Field before = old["spec"];
  switch (context.request.kind) {
    case crds::Kind::inference_cache:
      for (const char* fixed : {"source", "storage"})
        report_changes(context, rule::cache_immutable, now[fixed], before[fixed],
                       "a cache keeps its source and storage");
      return check_begun_download(context, object, old);
    case crds::Kind::stack_datastore:
    case crds::Kind::stack_customizer:
    case crds::Kind::stack_guardrail:
      return check_created_claim_update(context, own_claim(context.request.kind, now),
                                        own_claim(context.request.kind, before));
    case crds::Kind::inference_service:
    case crds::Kind::inference_pipeline:
    case crds::Kind::stack_entitystore:
    case crds::Kind::stack_evaluator:
      return;
  }
}

}  // namespace stackgate::validate
