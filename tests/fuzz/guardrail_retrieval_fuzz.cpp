// Any page of a knowledge base: chunks are bounded, whole UTF-8 where the page is, and nothing of their bodies is made
// up.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "services/guardrail/retrieval/chunks.hpp"
#include "services/guardrail/retrieval/text_vector.hpp"
#include "services/kit/base/utf8.hpp"

using namespace stackgate;
using namespace stackgate::guardrail;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view page(reinterpret_cast<const char*>(data), size);
  const bool valid = utf8::is_valid(page);
  const ChunkLimits limits{.wanted_bytes = 20, .most_bytes = 50, .chunks = 100};
  const Chunks found = markdown_chunks("page.md", page, limits);
  if (found.chunks.size() > limits.chunks) std::abort();
  for (const Chunk& chunk : found.chunks) {
    if (chunk.title.empty() || chunk.body.empty() || chunk.body.size() > limits.most_bytes) std::abort();
    if (valid && !(utf8::is_valid(chunk.body) && utf8::is_valid(chunk.title))) std::abort();
    float square = 0;
    for (const float value : text_vector(chunk.body)) square += value * value;
    if (!(std::abs(square - 1) < 1e-3F || square == 0)) std::abort();
  }
  return 0;
}
