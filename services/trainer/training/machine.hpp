// What this process may use. Source: Linux' cgroup v2 files (Documentation/admin-guide/cgroup-v2.rst).
#pragma once
#include <cstdint>

namespace stackgate::trainer {

/// Cores that it may run on: affinity, and the container's quota rounded up.
unsigned free_cores();
/// Bytes of the container, or else of the machine.
std::uint64_t memory_limit();
std::uint64_t resident_bytes();

}  // namespace stackgate::trainer
