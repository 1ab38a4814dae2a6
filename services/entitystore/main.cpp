#include "services/entitystore/program/program.hpp"
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
  entitystore::FailPoint fail;
#ifdef STACKGATE_FAIL_POINTS
  // A build for tests: STACKGATE_FAIL_POINT=committed dies there as if the power went; stop:committed stands still
  // there once, until SIGCONT, so that something else can fail meanwhile.
  if (const char* at = std::getenv("STACKGATE_FAIL_POINT"); at != nullptr && *at != '\0')
    fail = [at = std::string(at), stood = std::make_shared<std::atomic<bool>>(false)](std::string_view point) {
      if (point == at) std::raise(SIGKILL);
      if (at.starts_with("stop:") && point == std::string_view(at).substr(5) && !stood->exchange(true))
        std::raise(SIGSTOP);
    };
#endif
  return service::run({.program = entitystore::program(),
                       .build = [&](const settings::Values& values,
                                    metrics::Registry& metrics) { return entitystore::build(values, metrics, fail); },
                       .run_command = entitystore::run_command,
                       .check = entitystore::check_options,
                       .gives_memory_back = true},
                      argc, argv);
}
