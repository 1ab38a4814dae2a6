// What a file descriptor's terminal can show.
#pragma once
#include <cstdlib>
#include <string_view>

#include <unistd.h>

namespace stackgate {

/// Colours are for people at a terminal that has some, and does not say NO_COLOR (https://no-color.org: it counts when
/// it is not empty).
inline bool shows_colours(int fd) {
  const char* const terminal = std::getenv("TERM");
  const char* const no_colour = std::getenv("NO_COLOR");
  return ::isatty(fd) != 0 && (terminal == nullptr || std::string_view(terminal) != "dumb") &&
         (no_colour == nullptr || *no_colour == '\0');
}

}  // namespace stackgate
