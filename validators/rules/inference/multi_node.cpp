// LeaderWorkerSet: groups of pods that serve one model together.
#include <limits>

#include <fmt/format.h>

#include "validators/rules/common.hpp"
#include "validators/rules/common/single_values.hpp"
#include "validators/rules/inference/service.hpp"

namespace stackgate::validate {
namespace {

/// GPUs of one pod; nothing when they cannot be counted.
std::optional<std::int64_t> gpus_per_pod(const Context& context, const Field& resources) {
  std::int64_t sum = 0;
  for (const Field amount : resources["limits"].entries()) {
    if (amount.absent() || !is_gpu(context, amount.key())) continue;
    const auto quantity = quantity_of(amount);
    const auto count = quantity ? quantity->to_integer() : std::nullopt;
    if (!count || *count <= 0 || *count > 1024) return std::nullopt;
    sum += *count;
  }
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

void check_parallelism(Context& context, const Field& spec, const Field& nodes, std::int64_t size) {
  const auto per_pod = gpus_per_pod(context, spec["resources"]);
  const Field tensor = nodes["tensorParallelism"];
  const Field pipeline = nodes["pipelineParallelism"];
  if (!per_pod || (!tensor.integer() && !pipeline.integer())) return;
  const std::int64_t gpus = *per_pod * size;
  const std::int64_t by_tensor = tensor.integer().value_or(1), by_pipeline = pipeline.integer().value_or(1);
  if (by_tensor < 1 || by_pipeline < 1) return;  // the schema has said so
  const std::string have = fmt::format("{} pods with {} GPUs each have {}", size, *per_pod, gpus);
  if (tensor.integer() && pipeline.integer()) {
    if (by_tensor * by_pipeline != gpus)
      context.report(
          rule::multinode_parallelism, tensor,
          fmt::format("{} x {} parts need {} GPUs, but {}", by_tensor, by_pipeline, by_tensor * by_pipeline, have),
          fmt::format("choose tensorParallelism x pipelineParallelism = {}", gpus));
    return;
  }
  const std::int64_t one = by_tensor * by_pipeline;
  if (gpus % one != 0)
    context.report(rule::multinode_parallelism, tensor.present() ? tensor : pipeline,
                   fmt::format("{} parts do not divide the GPUs: {}", one, have),
                   fmt::format("choose a divisor of {}", gpus));
}

/// The pods of a StatefulSet carry the label controller-revision-hash=<set>-<hash>, at most 63 characters. Each group
/// of a LeaderWorkerSet is a set named <name>-lws-<group>; a hash has up to ten characters.
void check_group_names(Context& context, const Field& nodes, std::string_view name, std::int64_t groups) {
  constexpr std::size_t label_limit = 63, hash = 10, suffix = 4;
  const std::size_t longest =
      label_limit - hash - suffix - 2 - std::to_string(std::max<std::int64_t>(groups, 1) - 1).size();
  if (name.size() > longest)
    context.report(
        rule::multinode_name_too_long, nodes,
        fmt::format("the name \"{}\" has {} characters; the pods of its groups carry it in a label, which leaves {}",
                    name, name.size(), longest),
        fmt::format("choose a name of at most {} characters, or take multiNode out", longest));
}

}  // namespace

void check_multi_node(Context& context, const Field& spec, std::string_view name) {
  const Field nodes = spec["multiNode"];
  if (nodes.absent() || !nodes.value()->is_object()) return;
  check_object_name(context, nodes["schedulerName"]);
  const Field size = nodes["size"];
  if (size.absent()) {
    if (nodes.has_misspelt("size")) return;
    context.report(rule::multinode_size_missing, size, "the number of pods per group is missing",
                   "add size, for example 2");
    return;
  }
  if (!size.integer() || *size.integer() < 1) return;
  if (*size.integer() == 1) {
    context.report(rule::multinode_size_one, size, "a group of one pod needs no multiNode",
                   "write 2 or more, or take multiNode out");
  } else {
    check_group_names(context, nodes, name, spec["replicas"].integer().value_or(1));
  }
  const std::int64_t groups = spec["replicas"].integer().value_or(1);
  if (groups > 0 && *size.integer() > std::numeric_limits<std::int32_t>::max() / groups)
    context.report(rule::multinode_too_many_pods, size, "replicas x size is more pods than a LeaderWorkerSet can count",
                   "write fewer replicas or a smaller size");
  else
    check_parallelism(context, spec, nodes, *size.integer());
}

}  // namespace stackgate::validate
