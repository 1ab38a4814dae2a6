#include "services/evaluator/vectors/vector_math.hpp"

#include <array>
#include <cmath>
#include <cstring>

namespace stackgate::evaluator {
namespace {

/// Sums that are kept side by side, whatever the width of a register: what makes results equal everywhere.
constexpr std::size_t lanes = 32;

template <std::size_t width>
struct Register {
  using Type [[gnu::vector_size(width * sizeof(float))]] = float;
};

template <std::size_t width>
[[gnu::always_inline]] inline float dot_of(const float* a, const float* b, std::size_t size) {
  using Numbers = typename Register<width>::Type;
  constexpr std::size_t registers = lanes / width;
  Numbers sums[registers] = {};
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
#pragma GCC unroll 8
    for (std::size_t r = 0; r < registers; ++r) {
      Numbers x, y;
      std::memcpy(&x, a + i + r * width, sizeof x);
      std::memcpy(&y, b + i + r * width, sizeof y);
      sums[r] += x * y;
    }
  }
  std::array<float, lanes> all{};
  std::memcpy(all.data(), sums, sizeof sums);
  for (std::size_t half = lanes / 2; half > 0; half /= 2)
    for (std::size_t lane = 0; lane < half; ++lane) all[lane] += all[lane + half];
  for (; i < size; ++i) all[0] += a[i] * b[i];
  return all[0];
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] float dot_wide(const float* a, const float* b, std::size_t size) {
  return dot_of<8>(a, b, size);
}
#endif
float dot_narrow(const float* a, const float* b, std::size_t size) { return dot_of<4>(a, b, size); }

auto choose_dot() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return &dot_wide;
#endif
  return &dot_narrow;
}

}  // namespace

float dot(const float* a, const float* b, std::size_t size) {
  static const auto chosen = choose_dot();
  return chosen(a, b, size);
}

bool normalise(std::span<float> vector) {
  const float square = dot(vector.data(), vector.data(), vector.size());
  if (!std::isfinite(square)) return false;
  if (square <= 0) return true;
  const float scale = 1 / std::sqrt(square);
  if (!std::isfinite(scale)) return true;  // so short that its direction is lost
  for (float& each : vector) each *= scale;
  return true;
}

}  // namespace stackgate::evaluator
