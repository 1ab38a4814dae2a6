#include "services/puller/program/run.hpp"
#ifdef STACKGATE_FAIL_POINTS
#include <csignal>
#include <cstdlib>
#include <string>
#endif

int main(int argc, char** argv) {
  using namespace stackgate;
  puller::FailPoint fail = [](std::string_view) {};
#ifdef STACKGATE_FAIL_POINTS
  // A build for tests: STACKGATE_FAIL_POINT=moved dies there as if the power went.
  if (const char* at = std::getenv("STACKGATE_FAIL_POINT"); at != nullptr && *at != '\0')
    fail = [at = std::string(at)](std::string_view point) {
      if (point == at) std::raise(SIGKILL);
    };
#endif
  return puller::run(argc, argv, fail);
}
