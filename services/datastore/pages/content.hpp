// The beginning of a file, wherever its bytes lie: in Git, or in the store of large files.
#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "services/datastore/git/names.hpp"
#include "services/datastore/lfs/large_files.hpp"
#include "services/datastore/pages/place.hpp"

namespace stackgate::datastore::pages {

struct Head {
  std::string bytes;       // at most as many as asked for
  std::uint64_t size = 0;  // of the whole file
  bool whole() const { return bytes.size() == size; }
};

/// Reads no more than it gives. ServiceFault::missing for a large file that was never uploaded.
lfs::Expected<Head> read_head(const Visit& visit, const Place& place, const git::Entry& entry, std::uint64_t most);
/// The large file that a pointer names, if this repository has it with that size.
lfs::Expected<lfs::Stat> find_large(const Visit& visit, const Place& place, const git::Entry& entry);

/// As Git does: a NUL among the first 8,000 bytes.
bool is_binary(std::string_view bytes);
/// "image/png" of the types that browsers show without running anything, by the first bytes; nothing for all others,
/// SVG among them.
std::optional<std::string_view> picture_type(std::string_view bytes);

using git::file_name;
/// "jsonl" of "a/b.JSONL"; empty without one.
std::string extension_of(std::string_view path);

}  // namespace stackgate::datastore::pages
