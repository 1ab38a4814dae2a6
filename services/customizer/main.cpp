#include "services/customizer/program/program.hpp"
#include "services/kit/run/fail_point.hpp"

int main(int argc, char** argv) {
  using namespace stackgate;
  const run::FailPoint fail = run::fail_point_of_environment();
  return service::run({.program = customizer::program(),
                       .build = [&](const settings::Values& values,
                                    metrics::Registry& metrics) { return customizer::build(values, metrics, fail); },
                       .run_command = customizer::run_command,
                       .check = customizer::check_options,
                       .gives_memory_back = true},
                      argc, argv);
}
