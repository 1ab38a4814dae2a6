#include "reconcile/plan/parts/container.hpp"

#include <algorithm>

#include "reconcile/plan/parts/canonical.hpp"
#include "validators/rules/common.hpp"
#include "validators/rules/common/single_values.hpp"

namespace stackgate::reconcile::parts {

std::vector<pods::EnvVar> read_env(const Field& env) {
  std::vector<pods::EnvVar> out;
  out.reserve(env.size());
  for (const Field& item : env.items())
    if (const auto name = item["name"].text()) out.push_back({std::string(*name), canonical_json(item)});
  return out;
}

void put_text(pods::Container& container, std::string_view variable, const Field& field) {
  if (const auto text = field.text(); text && !text->empty()) container.env.push_back(pods::env_text(variable, *text));
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

std::int64_t gpu_count(const validate::Field& resources, const Settings& settings) {
  std::int64_t out = 0;
  // A GPU's request and limit are the same number; a request alone is completed by nobody but counts.
  for (const std::string_view part : {"limits", "requests"}) {
    std::int64_t sum = 0;
    for (const validate::Field& entry : resources[part].entries())
      if (const auto amount = validate::quantity_of(entry);
          amount && validate::is_gpu(entry.key(), settings.gpu_resources))
        sum += std::clamp<std::int64_t>(amount->rounded_up(), 0, 1'000'000);
    out = std::max(out, sum);
  }
  return out;
}

bool asks_for_gpus(const validate::Field& resources, const Settings& settings) {
  return gpu_count(resources, settings) > 0;
}

}  // namespace stackgate::reconcile::parts
