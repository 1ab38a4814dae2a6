#include "validators/rules/inference/service.hpp"

#include <fmt/format.h>

#include "validators/rules/common.hpp"
#include "validators/rules/common/single_values.hpp"
#include "validators/rules/kinds.hpp"
#include "validators/rules/reserved_env.hpp"

namespace stackgate::validate {
namespace {

void check_gpus(Context& context, const Field& resources) {
  const Field limits = resources["limits"];
  for (const Field amount : limits.entries())
    if (is_gpu(context, amount.key())) return;
  for (const Field amount : resources["requests"].entries())
    if (is_gpu(context, amount.key())) return;  // gpu-requests-differ-from-limits says what is missing
  if (resources.absent() || (limits.present() && !limits.value()->is_object())) return;
  if (limits.absent() && resources.has_misspelt("limits")) return;
  context.report(rule::gpu_missing, limits, "the limits name no GPU, and a model server needs at least one",
                 "add nvidia.com/gpu: 1 under resources.limits");
}

void check_storage(Context& context, const Field& spec) {
  const Field storage = spec["storage"];
  if (storage.absent()) return;
  check_object_name(context, storage["nimCache"]["name"]);
  const Field shared = storage["sharedMemorySizeLimit"];
  const auto amount = checked_quantity(context, shared);
  if (!amount) return;
  if (amount->sign() == 0)
    context.report(rule::shared_memory_zero, shared, "leaves the server no shared memory, without which it crashes",
                   "write a size above 0, for example 16Gi, or take it out");
  const Field limit = spec["resources"]["limits"]["memory"];
  if (const auto memory = quantity_of(limit); memory && *amount > *memory)
    context.report(rule::shared_memory_above_limit, shared,
                   "is above the memory limit, and shared memory counts towards it",
                   "raise resources.limits.memory above it");
}

}  // namespace

void check_inference_spec(Context& context, const Field& spec, std::string_view name) {
  if (spec.absent()) return;
  check_image(context, spec["image"]);
  check_object_name(context, spec["authSecret"]);
  check_storage(context, spec);
  check_resources(context, spec["resources"]);
  check_gpus(context, spec["resources"]);
  check_expose(context, spec["expose"]);
  const Field env = spec["env"];
  check_env(context, env);
  check_reserved_env(context, spec);
  check_adapters(context, env);
  check_probes(context, spec);
  check_metrics(context, spec["metrics"]);
  check_multi_node(context, spec, name);
  check_scale(context, spec);
  check_pod_knobs(context, spec);
}

void check_inference_service(Context& context, Field object) {
  check_inference_spec(context, object["spec"], object["metadata"]["name"].text().value_or(""));
}

}  // namespace stackgate::validate
