#include "services/trainer/program/run.hpp"
#ifdef STACKGATE_FAIL_POINTS
#include <csignal>
#include <cstdlib>
#include <string>
#endif

int main(int argc, char** argv) {
  using namespace stackgate;
  trainer::FailPoint fail = [](std::string_view) {};
#ifdef STACKGATE_FAIL_POINTS
  // A build for tests: STACKGATE_FAIL_POINT=step:9 dies at the ninth step as if the power went.
  if (const char* at = std::getenv("STACKGATE_FAIL_POINT"); at != nullptr && *at != '\0') {
    const std::string all(at);
    const std::size_t colon = all.find(':');
    const int nth = colon == std::string::npos ? 1 : std::atoi(all.c_str() + colon + 1);
    fail = [name = all.substr(0, colon), left = nth](std::string_view point) mutable {
      if (point == name && --left == 0) std::raise(SIGKILL);
    };
  }
#endif
  return trainer::run(argc, argv, fail);
}
