// What one token costs to choose, with a vocabulary of 128,256 ids and logits as a language model gives them: most of
// them low, a few high.
#include <cmath>

#include "services/inference/sampling/log_probs.hpp"
#include "services/inference/sampling/sampler.hpp"
#include "tests/bench/figure.hpp"

namespace {

using namespace stackgate;
using namespace stackgate::inference;

std::vector<float> model_like(std::size_t size, float spread) {
  std::vector<float> row(size);
  for (std::size_t id = 0; id < size; ++id) {
    const double first = uniform({.seed = 1, .position = id}), second = uniform({.seed = 2, .position = id});
    row[id] = spread * static_cast<float>(std::sqrt(-2 * std::log(1 - first)) * std::cos(6.283185307 * second));
  }
  for (std::size_t i = 0; i < 40; ++i) row[i * 3001 % size] += 12 - static_cast<float>(i) / 4;
  return row;
}

void measure(const char* name, const std::vector<float>& row, const SamplingParameters& by, double limit) {
  Sampler sampler;
  std::uint64_t position = 0;
  const double took = bench::microseconds([&] {
    if (!sampler.choose(row, {.parameters = by, .draw = {.seed = 3, .position = ++position}})) std::abort();
  });
  bench::print({.name = name, .value = took, .unit = "µs/token", .limit = limit, .text = ""});
}

}  // namespace

int main() {
  const std::vector<float> row = model_like(128'256, 2), flat = model_like(128'256, 0.2F);
  measure("sampling_greedy", row, {.temperature = 0}, 60);
  measure("sampling_plain", row, {}, 1000);
  measure("sampling_top_p", row, {.temperature = 0.7F, .top_p = 0.9F}, 1000);
  measure("sampling_top_k_top_p_min_p", row, {.temperature = 0.8F, .top_p = 0.95F, .top_k = 40, .min_p = 0.05F}, 1000);
  measure("sampling_top_p_of_a_flat_row", flat, {.top_p = 0.9F}, 10'000);
  const double logs = bench::microseconds([&] {
    if (log_probs(row, 17, 20).top.empty()) std::abort();
  });
  bench::print({.name = "sampling_log_probs_20", .value = logs, .unit = "µs/token", .limit = 500, .text = ""});
  return bench::exit_status;
}
