// Any bytes as generation_config.json: refused with findings, or numbers within what generation.hpp promises.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "services/model/directory/generation.hpp"

using namespace stackgate;
using namespace stackgate::model;

namespace {

void need(bool good) {
  if (!good) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const GenerationRead read = read_generation({reinterpret_cast<const char*>(data), size});
  for (const auto& finding : read.findings)
    need(finding.path.starts_with("generation_config.json") && !finding.problem.empty() && !finding.fix.empty());
  const Generation& out = read.generation;
  need(out.temperature.value_or(0) >= 0 && out.temperature.value_or(0) <= 2);
  need(out.top_p.value_or(1) > 0 && out.top_p.value_or(1) <= 1);
  need(out.min_p.value_or(0) >= 0 && out.min_p.value_or(0) <= 1);
  need(out.repetition_penalty.value_or(1) > 0 && out.max_new_tokens.value_or(1) > 0);
  for (const std::uint32_t id : out.end_ids) need(id < 1U << 21U);
  return 0;
}
