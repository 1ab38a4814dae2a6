// Seconds since 1970, as the tables of large files and the names in the trash keep times.
#pragma once
#include <chrono>
#include <cstdint>

namespace stackgate::datastore {

inline std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace stackgate::datastore
