// results.json of a framework: what is read of it is written as JSON that reads as the same; records of samples in
// whatever shape.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "services/evaluator/compare/sample_scores.hpp"
#include "services/evaluator/suite/results.hpp"
#include "services/evaluator/workflow/protocol/framework_results.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stackgate::evaluator;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto tasks = read_framework_results(text)) {
    // Names that are there twice are no JSON object; a score may turn out to be another one's error.
    if (const auto once = read_results(results_json(*tasks, true))) {
      const std::string written = results_json(*once, true);
      const auto again = read_results(written);
      if (again && results_json(*again, true) != written) std::abort();
    }
  }
  SampleScores scores;
  scores.add(3, text);
  if (const auto* column = scores.find({.metric = "acc", .name = "acc"}))
    if (column->size() != 4 || std::isnan((*column)[3])) std::abort();
  return 0;
}
