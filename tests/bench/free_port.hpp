// A port that nobody listens on at present.
#pragma once
#include <cstdint>
#include <stdexcept>

#include <unistd.h>

#include "services/kit/http/listen.hpp"

namespace stackgate::bench {

inline std::uint16_t free_port() {
  const auto listening = http::listen_on("127.0.0.1:0", 1);
  if (!listening) throw std::runtime_error(listening.error().message);
  ::close(listening->sockets.front());
  return listening->port;
}

}  // namespace stackgate::bench
