// Any bytes as the file of an index behind its checksum: what is taken can be searched, and written and read again.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "services/evaluator/vectors/index_file.hpp"

using namespace stackgate::evaluator;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto index = decode_index(std::as_bytes(std::span(data, size)));
  if (!index) return index.error().empty() ? std::abort(), 0 : 0;
  const std::vector<float> query(index->shape().dimension, 0.5F);
  const auto found = index->nearest(query, 5);
  if (found.size() > 5) std::abort();
  for (const Neighbour& each : found)
    if (each.number >= index->size()) std::abort();
  return 0;
}
