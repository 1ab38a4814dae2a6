// Requests and limits of a container.
// Source: k8s.io/kubernetes/pkg/apis/core/validation, ValidateResourceRequirements.
#include <algorithm>

#include <fmt/format.h>

#include "services/kit/grammar/names.hpp"
#include "services/kit/json/read.hpp"
#include "validators/rules/common.hpp"
#include "validators/rules/common/single_values.hpp"

namespace stackgate::validate {
namespace {

constexpr std::size_t most_resources = 32;

/// Extended resources and huge pages cannot be overcommitted: the request is the limit.
bool is_extended(std::string_view name) { return name.find('/') != std::string_view::npos; }
bool is_huge_page(std::string_view name) { return name.starts_with("hugepages-"); }

std::string shown(const Field& amount) { return json::scalar_text(*amount.value()); }

void report_gpu_count(Context& context, const Field& amount) {
  context.report(rule::gpu_count, amount, "a number of GPUs is a whole number of at least 1",
                 fmt::format("write {}: 1, or leave the line out", amount.key()));
}

void check_amount(Context& context, const Field& amount) {
  const std::string_view name = amount.key();
  if (auto bad = grammar::check_resource_name(name)) {
    context.report(rule::resource_key, amount, "the resource's name " + bad->problem, std::move(bad->fix));
    return;
  }
  if (is_gpu(context, name))
    if (const auto count = quantity_of(amount); count && count->sign() < 0) return report_gpu_count(context, amount);
  const auto quantity = checked_quantity(context, amount);
  if (!quantity) return;
  if (is_gpu(context, name)) {
    if (!quantity->is_integer() || quantity->sign() == 0) return report_gpu_count(context, amount);
    check_gpu_number(context, amount, *quantity);
  } else if (is_extended(name)) {
    if (!quantity->is_integer())
      context.report(rule::extended_resource_integer, amount, "an extended resource is counted in whole numbers",
                     fmt::format("write {}: {}", name, quantity->rounded_up()));
  } else if (name == "cpu") {
    check_cpus(context, amount, *quantity);
  } else {  // memory, ephemeral-storage, huge pages
    check_bytes(context, amount, *quantity, Bytes::of_memory, "64Gi");
  }
}

void check_pair(Context& context, const Field& request, const Field& limit) {
  if (request.absent()) return;
  const std::string_view name = request.key();
  const bool equal_only = is_extended(name) || is_huge_page(name);
  if (limit.absent()) {
    if (!equal_only) return;
    context.report(is_gpu(context, name) ? rule::gpu_requests_differ_from_limits : rule::extended_resource_unequal,
                   request, fmt::format("{} is requested but not limited; it cannot be overcommitted", name),
                   "write the same line under limits");
    return;
  }
  if (json::equal(*request.value(), *limit.value())) return;
  const auto asked = quantity_of(request);
  const auto most = quantity_of(limit);
  if (!asked || !most || *asked == *most) return;
  if (equal_only) {
    context.report(
        is_gpu(context, name) ? rule::gpu_requests_differ_from_limits : rule::extended_resource_unequal, request,
        fmt::format("requests {} of {}, but limits {}; the two must be equal", shown(request), name, shown(limit)),
        fmt::format("write {} in both, or under limits only", shown(limit)));
  } else if (*asked > *most) {
    context.report(rule::requests_above_limits, request,
                   fmt::format("requests {} of {}, above the limit of {}", shown(request), name, shown(limit)),
                   "lower the request or raise the limit");
  }
}

void check_huge_pages(Context& context, const Field& resources) {
  bool basic = false;
  Field first = resources;
  bool huge = false;
  for (const char* side : {"requests", "limits"}) {
    for (const Field amount : resources[side].entries()) {
      if (amount.absent()) continue;
      basic = basic || amount.key() == "cpu" || amount.key() == "memory";
      if (is_huge_page(amount.key()) && !huge) {
        huge = true;
        first = amount;
      }
    }
  }
  if (huge && !basic)
    context.report(rule::hugepages_alone, first, "huge pages need cpu or memory beside them",
                   "add memory to requests and limits");
}

}  // namespace

bool is_gpu(std::string_view resource_name, const std::vector<std::string>& others) {
  return resource_name.ends_with("/gpu") || std::ranges::find(others, resource_name) != others.end();
}

void check_resources(Context& context, Field resources) {
  if (resources.absent()) return;
  const Field requests = resources["requests"];
  const Field limits = resources["limits"];
  for (const Field amount : requests.entries()) check_amount(context, amount);
  for (const Field amount : limits.entries()) check_amount(context, amount);
  // Beyond what the schema allows the pairs are not looked up: that would take time by the square.
  if (limits.size() <= most_resources)
    for (const Field request : requests.entries()) check_pair(context, request, limits[request.key()]);
  check_huge_pages(context, resources);
}

}  // namespace stackgate::validate
