#include <cstdio>

#include <fmt/format.h>

#include "services/customizer/program/program.hpp"
#include "services/kit/service/database.hpp"

namespace stackgate::customizer {
namespace commands_detail {

int check(const settings::Values& values) {
  const CatalogueFolder folder(folders_of(values));
  const validate::Findings findings = folder.findings();
  for (const validate::Finding& each : findings) fmt::print("{}: {}\n", each.path, validate::to_line(each));
  const auto catalogue = folder.now();
  validate::Findings setup;
  if (values.has("customizer-config-file")) {
    auto read = setup_of(values);
    if (!read) {
      fmt::print(stderr, "stackgate-customizer: {}\n", read.error().message);
      return 1;
    }
    setup = std::move(read->findings);
    for (const validate::Finding& each : setup) fmt::print("{}: {}\n", each.path, validate::to_line(each));
    if (!validate::has_errors(setup)) fmt::print("jobs run on {}\n", to_string(read->setup.scheduler));
  }
  fmt::print("{} models, {} configurations\n", catalogue->targets.size(), catalogue->templates.size());
  return std::fflush(stdout) == 0 && !validate::has_errors(findings) && !validate::has_errors(setup) ? 0 : 1;
}

}  // namespace commands_detail

int run_command(const settings::Values& values) {
  if (values.command() == "migrate") return service::migrate_command(program(), values, customization_migrations());
  return commands_detail::check(values);
}

}  // namespace stackgate::customizer
