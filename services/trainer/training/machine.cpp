#include "services/trainer/training/machine.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <thread>

#include <unistd.h>

#include "services/kit/files/file.hpp"

namespace stackgate::trainer {
namespace machine_detail {

/// The n-th number of a small file, counted from 0.
std::optional<std::uint64_t> number_of(const std::string& path, int n) {
  const auto text = files::read_file(path, 4096);
  if (!text) return std::nullopt;
  const char *at = text->data(), *end = at + text->size();
  for (; n > 0 && at != end; ++at) n -= *at == ' ';
  std::uint64_t out = 0;
  return std::from_chars(at, end, out).ec == std::errc{} ? std::optional(out) : std::nullopt;
}

}  // namespace machine_detail

unsigned free_cores() {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const std::string file = "/sys/fs/cgroup/cpu.max";  // "200000 100000", or "max 100000"
  const auto quota = machine_detail::number_of(file, 0), period = machine_detail::number_of(file, 1);
  if (!quota || !period || *period == 0) return cores;
  return std::clamp(static_cast<unsigned>((*quota + *period - 1) / *period), 1U, cores);
}

std::uint64_t memory_limit() {
  const auto machine =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return std::min(machine, machine_detail::number_of("/sys/fs/cgroup/memory.max", 0).value_or(machine));
}

std::uint64_t resident_bytes() {
  return machine_detail::number_of("/proc/self/statm", 1).value_or(0) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace stackgate::trainer
