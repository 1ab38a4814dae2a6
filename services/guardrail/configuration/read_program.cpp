#include <algorithm>

#include "services/guardrail/colang/compile.hpp"
#include "services/guardrail/configuration/folder.hpp"
#include "services/guardrail/configuration/parts.hpp"
#include "services/guardrail/library/library.hpp"

namespace stackgate::guardrail {

colang::Program read_program(const std::vector<File>& files, const Configuration& configuration, bool any_action,
                             Report& report) {
  const auto library = library_sources();
  std::vector<colang::Source> sources(library.begin(), library.end());
  for (const File& file : files)
    if (kind_of(file.name) == FileKind::colang) sources.push_back({file.shown, file.text});
  colang::KnownNames names;
  const auto& actions = configuration.python_actions;
  if (!any_action)
    names.action = [&](std::string_view name) {
      return is_built_in_action(name) || std::ranges::find(actions, name, &PythonAction::name) != actions.end();
    };
  names.actions = built_in_actions();
  for (const PythonAction& each : actions) names.actions.emplace_back(each.name);
  colang::Compiled compiled = colang::compile(sources, names);
  for (validate::Finding& each : compiled.findings) report.add(std::move(each));
  return std::move(compiled.program);
}

}  // namespace stackgate::guardrail
