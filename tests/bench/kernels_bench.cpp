// What the kernels of services/model make of the memory's bandwidth: weights too large for any cache, one thread.
#include <cstdint>
#include <cstring>
#include <vector>

#include "services/model/kernels/kernels.hpp"
#include "tests/bench/figure.hpp"
#include "tests/bench/memory.hpp"

namespace {

using namespace stackgate;
using namespace stackgate::model;

constexpr std::size_t wide = 4096, matrices = 16;  // 1 GiB of float32

double product(const std::vector<float>& all, Dtype type, std::size_t rows, std::size_t columns) {
  std::vector<float> x(rows * columns, 0.5F), y(rows * columns);
  const std::size_t of_matrix = columns * columns, count = all.size() * sizeof(float) / (of_matrix * bytes_of(type));
  const double us = bench::microseconds(
      [&] {
        for (std::size_t i = 0; i < count; ++i) {
          const void* data = reinterpret_cast<const char*>(all.data()) + i * of_matrix * bytes_of(type);
          kernels().product({data, type, columns, columns}, 0, columns, {x.data(), rows, columns}, y.data(), columns);
        }
      },
      0.1, 5);
  return static_cast<double>(count * of_matrix * bytes_of(type)) / us / 1e3;
}

}  // namespace

int main() {
  std::vector<float> all(wide * wide * matrices);
  std::uint32_t state = 1;  // small numbers in each of the types: 0x3c003c00 varied in the low bits
  for (float& each : all) {
    state = state * 1664525U + 1013904223U;
    const std::uint32_t bits = 0x3c003c00U | (state >> 25U);
    std::memcpy(&each, &bits, sizeof each);
  }
  const double memory = bench::reading_rate(all);
  fmt::print(stderr, "{}; memory is read at {:.1f} GB/s by one thread\n", kernels().instruction_set, memory);
  const char* names[] = {"f32", "f16", "bf16"};
  for (const Dtype type : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
    const double one = product(all, type, 1, wide), sixteen = product(all, type, 16, wide);
    bench::print({fmt::format("kernels_{}_one_row", names[static_cast<int>(type)]), one / memory, "x reading",
                  type == Dtype::f32 ? 0.8 : 0.6, true, memory, fmt::format("{:.1f} GB/s", one)});
    bench::print({fmt::format("kernels_{}_16_rows", names[static_cast<int>(type)]), 16 * sixteen / one, "x one row", 4,
                  true, one, fmt::format("{:.1f} GB/s of weights", sixteen)});
  }
  return bench::exit_status;
}
