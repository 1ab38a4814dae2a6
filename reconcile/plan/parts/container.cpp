#include "reconcile/plan/parts/container.hpp"

#include <algorithm>

#include "reconcile/plan/parts/canonical.hpp"

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

}  // namespace stackgate::reconcile::parts
