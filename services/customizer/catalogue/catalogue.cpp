#include "services/customizer/catalogue/catalogue.hpp"

#include <algorithm>

#include "services/kit/grammar/dataset_reference.hpp"
#include "services/kit/grammar/url.hpp"

namespace stackgate::customizer {
namespace catalogue_detail {

std::string_view without_version(std::string_view name) { return name.substr(0, name.find('@')); }

}  // namespace catalogue_detail

std::optional<ModelUri> parse_model_uri(std::string_view text) {
  using Kind = ModelUri::Kind;
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos || colon == 0 || colon + 3 == text.size()) return std::nullopt;
  const std::string_view scheme = text.substr(0, colon), rest = text.substr(colon + 3);
  ModelUri out{.kind = Kind::foreign, .text = std::string(text)};
  if (scheme == "http" || scheme == "https") {
    if (!validate::grammar::parse_http_url(text)) return std::nullopt;
    out.kind = Kind::directory;
  } else if (scheme == "hf" || scheme == "datastore") {
    const auto parsed = validate::grammar::parse_dataset_reference(rest);
    if (!parsed || !parsed->path.empty()) return std::nullopt;
    out.kind = scheme == "hf" ? Kind::registry : Kind::datastore;
    out.repository = parsed->repository;
    out.revision = parsed->revision;
  }
  return out;
}

const Target* Catalogue::target_of(std::string_view model) const {
  using catalogue_detail::without_version;
  if (const auto exact = targets.find(model); exact != targets.end())
    return exact->second.enabled ? &exact->second : nullptr;
  const Target* found = nullptr;
  for (const auto& [name, target] : targets)
    if (target.enabled && (without_version(name) == model || target.base_model == model)) found = &target;
  return found;
}

const ConfigTemplate* Catalogue::template_of(std::string_view name) const {
  if (const auto exact = templates.find(name); exact != templates.end()) return &exact->second;
  const ConfigTemplate* found = nullptr;
  for (const auto& [key, each] : templates)
    if (catalogue_detail::without_version(key) == name) found = &each;
  return found;
}

const ConfigTemplate* Catalogue::template_for(const Target& target) const {
  const auto found =
      std::ranges::find_if(templates, [&](const auto& each) { return each.second.target == target.name; });
  return found == templates.end() ? nullptr : &found->second;
}

}  // namespace stackgate::customizer
