// Variables from files that the operator mounts: secrets.datastoreConfigSecret (one script of assignments) and
// secrets.datastoreInlineConfigSecret (a file for each variable, or files of assignments).
//
// Nothing is run: an assignment is "NAME=VALUE" or "export NAME=VALUE", the value plain, in single or in double quotes,
// without expansions. Other lines are counted, so that a script which was written for a shell is noticed.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stackgate::datastore {

struct Assignments {
  std::vector<std::pair<std::string, std::string>> values;
  std::vector<unsigned> skipped;  // line numbers
};

/// Pure.
Assignments parse_assignments(std::string_view text);

/// Reads both places, which --config-script and --inline-config-dir among the arguments or else STACKGATE_CONFIG_SCRIPT
/// and STACKGATE_INLINE_CONFIG_DIR name, and sets what is not set yet; the script wins over the directory. Before any
/// thread starts. Warnings, without values, for stderr.
std::vector<std::string> adopt_config_files(std::span<const char* const> arguments = {});

}  // namespace stackgate::datastore
