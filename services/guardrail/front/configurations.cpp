// Which configuration answers, from what the store has.
#include "services/guardrail/front/configurations.hpp"

#include <algorithm>
#include <utility>

#include "services/guardrail/api/failures.hpp"
#include "services/guardrail/configuration/detectors.hpp"

namespace stackgate::guardrail {
namespace {

using Chosen = std::expected<ConfigurationPtr, web::Failure>;

Chosen choose(const Store& store, const std::string& fallback, std::vector<std::string> ids) {
  if (ids.empty() && fallback.empty()) return std::unexpected(no_configuration());
  if (ids.empty()) ids.push_back(fallback);
  const auto snapshot = store.snapshot();
  FoundConfiguration found = snapshot->find(ids);
  if (found.fault == FoundConfiguration::Fault::none) return found.configuration;
  if (found.fault == FoundConfiguration::Fault::broken)
    return std::unexpected(broken_configuration(found.id, found.error));
  std::vector<std::string_view> known;
  for (const auto& each : snapshot->configurations()) known.push_back(each.first);
  return std::unexpected(unknown_configuration(found.id, known));
}

/// Who writes a request's own configuration chooses the addresses, and must not have keys of this server sent there.
bool sends_keys_away(const Configuration& configuration) {
  const bool of_models = std::ranges::any_of(
      configuration.models, [](const Model& each) { return !each.base_url.empty() && !each.api_key_env.empty(); });
  return of_models || (configuration.detectors && !configuration.detectors->jailbreak.api_key_env.empty());
}

Chosen compile(const std::vector<File>& files) {
  ReadConfiguration read = read_configuration("inline", files);
  if (!read.configuration) return std::unexpected(broken_configuration("inline", error_lines(read.findings)));
  if (sends_keys_away(*read.configuration))
    return std::unexpected(broken_configuration(
        "inline",
        "guardrails.config: api_key_env_var stands beside an address of its own; in a configuration of a "
        "request leave out one of them, or name a configuration of this server by config_id"));
  return read.configuration;
}

std::string list(const Store& store) {
  const auto snapshot = store.snapshot();
  std::vector<ListedConfiguration> out;
  for (const auto& [id, each] : snapshot->configurations())
    out.push_back({.id = id, .configuration = each.configuration.get(), .error = each.error});
  return configurations_list(out);
}

}  // namespace

Configurations served_configurations(const std::shared_ptr<Store>& store, std::string fallback, bool takes_inline) {
  return {.choose = [store, fallback = std::move(fallback)](
                        const std::vector<std::string>& ids) { return choose(*store, fallback, ids); },
          .compile = [takes_inline](const std::vector<File>& files) -> Chosen {
            if (!takes_inline) return std::unexpected(inline_not_allowed());
            return compile(files);
          },
          .list = [store] { return list(*store); },
          .are_quick = [store, takes_inline] { return !takes_inline && store->snapshot()->are_quick(); }};
}

}  // namespace stackgate::guardrail
