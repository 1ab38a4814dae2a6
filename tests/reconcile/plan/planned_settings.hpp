// A program's settings beside the environment that the operator's plan gives its container.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "services/kit/settings/names.hpp"
#include "services/kit/settings/settings.hpp"
#include "tests/reconcile/plan/stack_plans.hpp"

namespace stackgate::reconcile::tests {

using Environment = std::map<std::string, std::string>;

/// Of a pod template's first container; "given" instead of a Secret's text or a field of the pod.
inline void take_environment(const Tree& pod, Environment& out) {
  for (const auto& each : pod["spec"]["containers"][0]["env"])
    out[each["name"]] = each.contains("value") ? each["value"].get<std::string>() : "given";
}

/// Of all pods that an object of this type (kind) among the planned ones makes.
inline Environment environment_of(const Planned& plan, std::string_view type) {
  Environment out;
  for (const auto& body : plan.bodies)
    if (body["kind"] == type) take_environment(body["spec"]["template"], out);
  return out;
}

/// As the program reads its flags and that environment; a file of a Secret holds the same for every Secret.
inline settings::Outcome read_settings(const settings::Program& program, const Environment& environment,
                                       const std::vector<const char*>& flags = {}) {
  return settings::read(
      program, flags,
      [&](const std::string& name) -> std::optional<std::string> {
        const auto found = environment.find(name);
        return found == environment.end() ? std::nullopt : std::optional(found->second);
      },
      [](const std::string&) { return "a text that is given"; }, "1");
}

/// The variables that a program reads, those of files of secrets among them.
inline std::set<std::string> variables_of(const settings::Program& program) {
  std::set<std::string> out;
  for (const settings::Setting& setting : program.settings) {
    out.insert(settings::variable_of(setting));
    if (setting.kind == settings::Kind::secret) out.insert(settings::variable_of(setting) + "_FILE");
  }
  return out;
}

}  // namespace stackgate::reconcile::tests
