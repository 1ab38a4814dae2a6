#include "services/guardrail/program/program.hpp"

int main(int argc, char** argv) {
  using namespace stackgate;
  return service::run({.program = guardrail::program(),
                       .build = guardrail::build,
                       .run_command = guardrail::run_command,
                       .check = guardrail::check_options,
                       .gives_memory_back = true},
                      argc, argv);
}
