// Seconds since 1970, as the tables of this folder keep times.
#pragma once
#include <chrono>
#include <cstdint>

namespace stackgate::datastore::lfs {

inline std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace stackgate::datastore::lfs
