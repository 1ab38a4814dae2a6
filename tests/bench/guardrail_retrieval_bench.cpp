// 1,000 examples made searchable, and one search among them.
#include "services/guardrail/retrieval/text_vector.hpp"
#include "services/guardrail/retrieval/vector_index.hpp"
#include "tests/bench/figure.hpp"

int main() {
  using namespace stackgate;
  using namespace stackgate::guardrail;
  std::vector<std::string> examples;
  for (int i = 0; i < 1000; ++i)
    examples.push_back(fmt::format("how do I change delivery number {} to another address in the city?", i * 37));
  VectorIndex index(text_vector_size);
  const double built = bench::microseconds([&] {
    index = VectorIndex(text_vector_size);
    for (const std::string& each : examples) index.add(text_vector(each));
  });
  bench::print({.name = "retrieval_index_1000_examples", .value = built / 1000, .unit = "ms", .limit = 8, .text = ""});
  const double found = bench::microseconds([&] {
    if (index.nearest(text_vector("another address please"), 5).size() != 5) std::abort();
  });
  bench::print({.name = "retrieval_nearest_5_of_1000", .value = found / 1000, .unit = "ms", .limit = 0.5, .text = ""});
  return bench::exit_status;
}
