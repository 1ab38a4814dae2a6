// An index as a file: little-endian numbers, the vectors, the graph's edges, and the SHA-256 of all that.
//
//   offset  bytes
//        0      8  "SGVECTR1"
//        8      4  kind: 0 exact, 1 HNSW          12  4  metric: 0 cosine, 1 inner product
//       16      4  dimension                      20  4  links of a vector (0 for exact)
//       24      8  number of vectors              32  4  the vector where a search begins    36  4  zero
//       40         vectors, one behind the other, 4 bytes a number
//                  HNSW: the level of each vector; its lists of neighbours, each with its length before it
//     last     32  SHA-256 of what stands before it
//
// Thread-safe. Errors are sentences that name the file.
#pragma once
#include <cstddef>
#include <expected>
#include <span>
#include <string>

#include "services/evaluator/vectors/embedded_index.hpp"

namespace stackgate::evaluator {

/// Written beside `path` and moved to it once it is on the disk: there is the old file or the new one, whole.
std::expected<void, std::string> write_index(const EmbeddedIndex& index, const std::string& path);

enum class NoIndex : std::uint8_t { absent, damaged };
struct IndexFault {
  NoIndex kind = NoIndex::damaged;
  std::string message;
};
/// `search_width`: see HnswSettings. Damaged files are refused, whatever is wrong with them.
std::expected<EmbeddedIndex, IndexFault> read_index(const std::string& path, std::uint32_t search_width = 80);

/// What stands before the checksum. Pure. Every number is checked against the others.
std::expected<EmbeddedIndex, std::string> decode_index(std::span<const std::byte> bytes,
                                                       std::uint32_t search_width = 80);

}  // namespace stackgate::evaluator
