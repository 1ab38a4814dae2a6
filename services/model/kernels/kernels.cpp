#include "services/model/kernels/kernels.hpp"

#include <vector>

#include "services/model/kernels/sets.hpp"

namespace stackgate::model {
namespace {

std::vector<Kernels> look() {
  std::vector<Kernels> out;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    out.push_back(avx512_kernels);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"))
    out.push_back(avx2_kernels);
#endif
  out.push_back(baseline_kernels);
  return out;
}

constexpr std::size_t queries_at_once = 4;  // QUERIES of each set

}  // namespace

std::size_t attention_scratch(std::size_t longest) { return queries_at_once * longest; }

std::span<const Kernels> runnable_kernels() {
  static const std::vector<Kernels> sets = look();
  return sets;
}

const Kernels& kernels() { return runnable_kernels().front(); }

}  // namespace stackgate::model
