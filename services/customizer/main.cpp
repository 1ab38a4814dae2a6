#include "services/customizer/program/program.hpp"
#ifdef STACKGATE_FAIL_POINTS
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#endif

int main(int argc, char** argv) {
  using namespace stackgate;
  customizer::FailPoint fail;
#ifdef STACKGATE_FAIL_POINTS
  // A build for tests: STACKGATE_FAIL_POINT=stored:3 dies behind the third step that was stored as if the power went,
  // any:7 behind the seventh of all.
  if (const char* at = std::getenv("STACKGATE_FAIL_POINT"); at != nullptr && *at != '\0') {
    const std::string_view given(at);
    const std::size_t colon = given.find(':');
    const int times = colon == std::string_view::npos ? 1 : std::atoi(at + colon + 1);
    fail = [name = std::string(given.substr(0, colon)),
            left = std::make_shared<std::atomic<int>>(times)](std::string_view point) {
      if ((point == name || name == "any") && --*left == 0) std::raise(SIGKILL);
    };
  }
#endif
  return service::run({.program = customizer::program(),
                       .build = [&](const settings::Values& values,
                                    metrics::Registry& metrics) { return customizer::build(values, metrics, fail); },
                       .run_command = customizer::run_command,
                       .check = customizer::check_options,
                       .gives_memory_back = true},
                      argc, argv);
}
