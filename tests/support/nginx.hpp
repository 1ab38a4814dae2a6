// Where the nginx is that tests and benches run beside ours.
#pragma once
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <unistd.h>

namespace stackgate::test {

/// $NGINX, which ./dev sets (it unpacks Debian's package without installing it), or the one that is installed. Empty
/// where there is none.
inline std::string find_nginx() {
  const char* const named = std::getenv("NGINX");
  std::string path = named != nullptr && *named != '\0' ? named : "/usr/sbin/nginx";
  return ::access(path.c_str(), X_OK) == 0 ? path : "";
}

/// For benches, which are nothing without it.
inline std::string nginx() {
  std::string path = find_nginx();
  if (path.empty()) throw std::runtime_error("there is no nginx: set NGINX, or install Debian's package nginx");
  return path;
}

}  // namespace stackgate::test
