#include "services/inference/program/program.hpp"

int main(int argc, char** argv) {
  using namespace stackgate;
  return service::run({.program = inference::program(),
                       .build = inference::build,
                       .run_command = inference::run_command,
                       .check = inference::check_options},
                      argc, argv);
}
