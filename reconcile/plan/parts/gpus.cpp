#include "reconcile/plan/parts/gpus.hpp"

#include <algorithm>

#include "services/kit/grammar/quantity.hpp"

namespace stackgate::reconcile::parts {
namespace {

bool is_gpu(std::string_view name, const Settings& settings) {
  return name.ends_with("/gpu") || std::ranges::find(settings.gpu_resources, name) != settings.gpu_resources.end();
}

std::int64_t amount(const validate::Field& field) {
  const json::Value* value = field.value();
  if (value == nullptr || value->is_null()) return 0;
  if (value->is_integer()) return value->integer();
  const auto quantity = validate::grammar::parse_quantity(value->string());
  return quantity ? quantity->rounded_up() : 0;
}

}  // namespace

std::int64_t gpu_count(const validate::Field& resources, const Settings& settings) {
  std::int64_t out = 0;
  // A GPU's request and limit are the same number; a request alone is completed by nobody but counts.
  for (const std::string_view part : {"limits", "requests"}) {
    std::int64_t sum = 0;
    for (const validate::Field& entry : resources[part].entries())
      if (is_gpu(entry.key(), settings)) sum += std::clamp<std::int64_t>(amount(entry), 0, 1'000'000);
    out = std::max(out, sum);
  }
  return out;
}

bool asks_for_gpus(const validate::Field& resources, const Settings& settings) {
  return gpu_count(resources, settings) > 0;
}

}  // namespace stackgate::reconcile::parts
