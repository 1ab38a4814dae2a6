// Seconds since 1970, as the tables of large files and the names in the trash keep times.
#pragma once
#include <chrono>
#include <cstdint>

namespace stackgate::datastore {

inline std::int64_t unix_seconds(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}
inline std::int64_t seconds_now() { return unix_seconds(std::chrono::system_clock::now()); }

}  // namespace stackgate::datastore
