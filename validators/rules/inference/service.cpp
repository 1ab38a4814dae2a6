#include "validators/rules/inference/service.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "services/kit/grammar/characters.hpp"
#include "validators/rules/common.hpp"
#include "validators/rules/common/single_values.hpp"
#include "validators/rules/kinds.hpp"
#include "validators/rules/reserved.hpp"

namespace stackgate::validate {
namespace {

constexpr std::array<std::string_view, 3> gpu_slips{"gpu", "gpus", "gup"};  // after the slash, in any case
constexpr std::array<std::string_view, 5> accelerator_words{"gpu", "gaudi", "neuron", "ascend", "accelerator"};
constexpr std::array<std::string_view, 4> accelerator_starts{"mig-", "tpu", "npu", "xpu"};

/// Of an extended resource, what follows the slash in lower case; else empty.
std::string device_of(std::string_view name) {
  const std::size_t slash = name.find('/');
  return slash == std::string_view::npos ? std::string{} : grammar::to_lower(name.substr(slash + 1));
}

/// "nvidia.com/GPU", "nvidia.com/gpus".
bool is_gpu_slip(std::string_view name) {
  const std::string device = device_of(name);
  return std::ranges::find(gpu_slips, device) != gpu_slips.end();
}

/// "nvidia.com/mig-1g.5gb", "gpu.intel.com/i915".
bool reads_like_accelerator(std::string_view name) {
  const std::string device = device_of(name);
  if (device.empty()) return false;
  const std::string whole = grammar::to_lower(name);
  return std::ranges::any_of(accelerator_starts, [&](std::string_view start) { return device.starts_with(start); }) ||
         std::ranges::any_of(accelerator_words,
                             [&](std::string_view word) { return whole.find(word) != std::string::npos; });
}

/// The first entry of limits or requests that is written, or is not, and has such a name.
template <class Named>
std::optional<Field> find_amount(const Field& resources, bool written, Named&& named) {
  for (const char* side : {"limits", "requests"})
    for (const Field amount : resources[side].entries())
      if (amount.present() == written && named(amount.key())) return amount;
  return std::nullopt;
}

void check_gpus(Context& context, const Field& resources) {
  const Field limits = resources["limits"];
  const auto is_one = [&](std::string_view name) { return is_gpu(context, name); };
  // gpu-requests-differ-from-limits says what is missing when it stands in the requests alone.
  if (find_amount(resources, true, is_one)) return;
  if (resources.absent() || (limits.present() && !limits.value()->is_object())) return;
  if (limits.absent() && resources.has_misspelt("limits")) return;
  if (const auto null = find_amount(resources, false, is_one))
    return context.report(rule::gpu_missing, *null, "has no value and is dropped, and a model server needs a GPU",
                          fmt::format("write {}: 1 under resources.limits", null->key()));
  if (const auto slip = find_amount(resources, true, is_gpu_slip))
    return context.report(rule::gpu_missing, *slip,
                          fmt::format("{} is no GPU, and a model server needs at least one", slip->key()),
                          fmt::format("did you mean {}/gpu?", slip->key().substr(0, slip->key().find('/'))));
  if (const auto other = find_amount(resources, true, reads_like_accelerator))
    return context.report(
        rule::gpu_missing, *other,
        fmt::format("{} does not count as a GPU, and the limits name no other", other->key()),
        fmt::format(
            "add nvidia.com/gpu: 1, or let it count: start the gate, and call validate, with --gpu-resources={}",
            other->key()));
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
  else
    check_bytes(context, shared, *amount, Bytes::of_memory, "16Gi");
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
