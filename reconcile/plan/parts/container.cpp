#include "reconcile/plan/parts/container.hpp"

#include <algorithm>

#include "reconcile/plan/parts/canonical.hpp"
#include "services/kit/grammar/quantity.hpp"

namespace stackgate::reconcile::parts {

std::vector<pods::EnvVar> read_env(const Field& env) {
  std::vector<pods::EnvVar> out;
  out.reserve(env.size());
  for (const Field& item : env.items())
    if (const auto name = item["name"].text()) out.push_back({std::string(*name), canonical_json(item)});
  return out;
}

pods::Probe read_probe(const Field& field, pods::Probe out) {
  const auto take = [&field](std::string_view key, int& into) {
    if (const auto number = field[key].integer()) into = static_cast<int>(*number);
  };
  take("initialDelaySeconds", out.initial_delay);
  take("periodSeconds", out.period);
  take("timeoutSeconds", out.timeout);
  take("failureThreshold", out.failures);
  take("successThreshold", out.successes);
  return out;
}

std::string read_resources(const Field& resources) {
  std::string text;
  json::Writer out(text);
  out.object([&] { members_canonical(out, resources, {"limits", "requests"}); });
  return text == "{}" ? std::string() : text;
}

std::string read_image(const Field& image, std::string_view fallback) {
  const auto tag = image["tag"].text();
  std::string out(image["repository"].text().value_or(fallback));
  if (!tag) return out;
  if (!image["repository"].present()) {
    out.resize(std::min(out.find('@'), out.size()));
    const std::size_t colon = out.rfind(':');  // of the tag, unless it is that of the registry's port
    if (colon != std::string::npos && out.find('/', colon) == std::string::npos) out.resize(colon);
  }
  return out.empty() ? out : out + ":" + std::string(*tag);
}

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
