#include "services/trainer/data/order.hpp"

#include <numeric>
#include <utility>

#include "services/trainer/data/random.hpp"

namespace stackgate::trainer {

std::vector<std::uint32_t> permutation(std::uint64_t seed, std::uint64_t epoch, std::uint32_t count) {
  std::vector<std::uint32_t> out(count);
  std::iota(out.begin(), out.end(), 0U);
  const std::uint64_t key = key_of(seed, 0x6f72646572, epoch);
  for (std::uint32_t i = count; i > 1; --i) std::swap(out[i - 1], out[static_cast<std::size_t>(uniform(key, i) * i)]);
  return out;
}

std::vector<MicroBatch> micro_batches(std::span<const std::uint32_t> lengths, const MicroBatches& how) {
  std::vector<MicroBatch> out;
  std::vector<std::uint64_t> sums;
  for (std::uint32_t i = 0; i < lengths.size(); ++i) {
    std::size_t place = how.packed || out.empty() ? 0 : out.size() - 1;
    const auto fits = [&](std::size_t at) {
      return sums[at] + lengths[i] <= how.tokens && (!how.examples || out[at].size() < *how.examples);
    };
    while (place < out.size() && !fits(place)) ++place;
    if (place == out.size()) out.emplace_back(), sums.push_back(0);
    out[place].push_back(i);
    sums[place] += lengths[i];
  }
  return out;
}

}  // namespace stackgate::trainer
