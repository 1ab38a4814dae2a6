// Where a build for tests dies as if the power went. For main(): what ships is compiled without STACKGATE_FAIL_POINTS.
#pragma once
#include <functional>
#include <string_view>

#ifdef STACKGATE_FAIL_POINTS
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#endif

namespace stackgate::run {

using FailPoint = std::function<void(std::string_view point)>;

/// $STACKGATE_FAIL_POINT:
///   stored       SIGKILL at this point
///   stored:3     when it is reached for the third time
///   any:7        at the seventh point, whichever that is
///   stop:stored  stands still there once, until SIGCONT, so that something else can fail meanwhile
/// Thread-safe.
inline FailPoint fail_point_of_environment() {
#ifdef STACKGATE_FAIL_POINTS
  const char* const given = std::getenv("STACKGATE_FAIL_POINT");
  const std::string text(given == nullptr ? "" : given);
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon), rest = colon == std::string::npos ? "1" : text.substr(colon + 1);
  if (name == "stop")
    return [rest, stood = std::make_shared<std::atomic<bool>>(false)](std::string_view point) {
      if (point == rest && !stood->exchange(true)) std::raise(SIGSTOP);
    };
  if (!name.empty())
    return [name, left = std::make_shared<std::atomic<int>>(std::atoi(rest.c_str()))](std::string_view point) {
      if ((point == name || name == "any") && --*left == 0) std::raise(SIGKILL);
    };
#endif
  return [](std::string_view) {};
}

}  // namespace stackgate::run
