// The commands: `migrate`, for init containers, and `check DIR`, what would be refused, before any request.
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "services/guardrail/colang/compile.hpp"
#include "services/guardrail/memory/conversations.hpp"
#include "services/guardrail/program/program.hpp"
#include "services/guardrail/store/folder.hpp"
#include "services/kit/service/database.hpp"

namespace stackgate::guardrail {
namespace commands_detail {

/// One line; of Colang with the line that it is about, and a caret.
void show(const validate::Finding& finding, const std::vector<File>& files) {
  for (const File& file : files) {
    if (!file.name.ends_with(".co") || !finding.path.starts_with(file.shown + ":")) continue;
    const colang::Source source{.name = file.shown, .text = file.text};
    fmt::print("{}\n", colang::with_caret(finding, {&source, 1}));
    return;
  }
  fmt::print("{}: {}: {}\n", finding.path, finding.severity == validate::Severity::error ? "error" : "warning",
             validate::to_line(finding));
}

int migrate(const settings::Values& values) {
  const auto database = service::open_database(program(), values);
  if (database) return service::migrate_command(program(), **database, conversation_migrations());
  fmt::print(stderr, "stackgate-guardrail: {}\n", database.error().message);
  return 1;
}

int check(const settings::Values& values) {
  if (values.arguments().size() != 1) {
    fmt::print(stderr, "check takes one folder: stackgate-guardrail check ./configs\n");
    return 2;
  }
  const std::string& folder = values.arguments().front();
  const FolderContent content = read_folder(folder);
  for (const validate::Finding& each : content.findings) show(each, {});
  const auto all = configurations_of(content.files);
  if (content.away || all.empty()) {
    fmt::print(
        stderr, "{} {}\n", folder,
        content.away ? "cannot be read" : "holds no configuration: a config.yml at its top, or folders with one each");
    return 1;
  }
  std::size_t wrong = 0;
  for (const auto& [id, own] : all) {
    ReadConfiguration read = read_configuration(id, own);
    if (auto fault = read.configuration ? try_python(*read.configuration, python_options(values)) : std::nullopt) {
      read.findings.push_back(std::move(*fault));
      read.configuration = nullptr;
    }
    for (const validate::Finding& each : read.findings) show(each, own);
    const bool good = read.configuration != nullptr;
    wrong += good ? 0 : 1;
    fmt::print("{}: {}\n", id, good ? "can be served" : "cannot be served");
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace commands_detail

int run_command(const settings::Values& values) {
  return values.command() == "migrate" ? commands_detail::migrate(values) : commands_detail::check(values);
}

}  // namespace stackgate::guardrail
