#include <algorithm>
#include <cstdio>

#include "services/datastore/commands.hpp"
#include "services/datastore/config_files.hpp"
#include "services/datastore/options.hpp"

int main(int argc, char** argv) {
  using namespace stackgate;
  for (const std::string& warning : datastore::adopt_config_files({argv + std::min(argc, 1), argv + argc}))
    std::fputs(("stackgate-datastore: " + warning + "\n").c_str(), stderr);
  return service::run({.program = datastore::program(),
                       .build = datastore::build,
                       .run_command = datastore::run_command,
                       .check = datastore::check_options,
                       .gives_memory_back = true},
                      argc, argv);
}
