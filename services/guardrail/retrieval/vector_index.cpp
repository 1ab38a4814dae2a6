#include "services/guardrail/retrieval/vector_index.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace stackgate::guardrail {
namespace {

/// In several sums at once, which the compiler can compute side by side.
float dot(const float* a, const float* b, std::size_t size) {
  std::array<float, 8> sums{};
  std::size_t i = 0;
  for (; i + sums.size() <= size; i += sums.size())
    for (std::size_t lane = 0; lane < sums.size(); ++lane) sums[lane] += a[i + lane] * b[i + lane];
  float sum = 0;
  for (const float each : sums) sum += each;
  for (; i < size; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

bool VectorIndex::add(std::span<const float> vector) {
  if (vector.size() != dimension_ || dimension_ == 0) return false;
  const float square = dot(vector.data(), vector.data(), vector.size());
  if (!std::isfinite(square)) return false;
  const float scale = square > 0 ? 1 / std::sqrt(square) : 0;
  for (const float value : vector) values_.push_back(value * scale);
  return true;
}

std::vector<Nearest> VectorIndex::nearest(std::span<const float> query, std::size_t most, float least) const {
  if (query.size() != dimension_ || dimension_ == 0) return {};
  const float square = dot(query.data(), query.data(), query.size());
  const float scale = square > 0 && std::isfinite(square) ? 1 / std::sqrt(square) : 0;
  std::vector<Nearest> out;
  for (std::size_t i = 0; i < size(); ++i) {
    const float similarity = dot(query.data(), values_.data() + i * dimension_, dimension_) * scale;
    if (similarity >= least) out.push_back({static_cast<std::uint32_t>(i), similarity});
  }
  const auto kept = out.begin() + static_cast<std::ptrdiff_t>(std::min(most, out.size()));
  std::ranges::partial_sort(out, kept, [](const Nearest& a, const Nearest& b) {
    return a.similarity != b.similarity ? a.similarity > b.similarity : a.index < b.index;
  });
  out.erase(kept, out.end());
  return out;
}

}  // namespace stackgate::guardrail
