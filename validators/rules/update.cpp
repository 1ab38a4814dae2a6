// What cannot change once it is stored.
#include <fmt/format.h>

#include "validators/rules/common/single_values.hpp"
#include "validators/rules/kinds.hpp"
#include "validators/rules/quoting.hpp"

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

}  // namespace

void check_update(Context& context, Field object, Field old) {
  const Field now = object["spec"];
  const Field before = old["spec"];
  switch (context.request.kind) {
    case crds::Kind::inference_cache:
      for (const char* fixed : {"source", "storage"})
        report_changes(context, rule::cache_immutable, now[fixed], before[fixed],
                       "a cache keeps its source and storage");
      return;
    case crds::Kind::stack_datastore:
      return check_created_claim_update(context, now["pvc"], before["pvc"]);
    case crds::Kind::stack_customizer:
      return check_created_claim_update(context, now["trainingConfig"]["modelPVC"],
                                        before["trainingConfig"]["modelPVC"]);
    case crds::Kind::stack_guardrail:
      return check_created_claim_update(context, now["configStore"]["pvc"], before["configStore"]["pvc"]);
    case crds::Kind::inference_service:
    case crds::Kind::inference_pipeline:
    case crds::Kind::stack_entitystore:
    case crds::Kind::stack_evaluator:
      return;
  }
}

}  // namespace stackgate::validate
