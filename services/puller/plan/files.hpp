// What a source offers, and which names are believed.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/puller/plan/failure.hpp"

namespace stackgate::puller {

inline constexpr std::string_view manifest_name = ".stackgate-model.json";
/// What the puller keeps of an unfinished pull: in the output or beside it.
inline constexpr std::string_view staging_name = ".stackgate-pull";
inline constexpr std::size_t most_files = 100'000;
inline constexpr std::uint64_t largest_file = std::uint64_t{1} << 46U;  // 64 TiB

struct RemoteFile {
  std::string path;                     // below the model's directory, checked
  std::optional<std::uint64_t> size{};  // bytes; of a plain directory asked later
  std::string sha256{};                 // 64 hex digits, or empty
  std::string blob{};                   // Git object id, 40 hex digits, or empty
  bool operator==(const RemoteFile&) const = default;
};

/// What is wrong with a path that a server names, as the end of a sentence; nothing for one that is kept as it is.
/// Refused: empty, absolute, "." or ".." or empty parts, backslashes, control characters, what is no UTF-8, more than
/// 1,024 bytes or a part of more than 255, and the puller's own names in the first part.
std::optional<std::string> fault_of_path(std::string_view path);

/// Paths, sums and sizes of a listing as a whole: each path good and named once, none a folder of another, sums of the
/// right form, not too many. The failure names the entry.
Result<void> check_listing(const std::vector<RemoteFile>& files);

/// Lower-case hexadecimal digits, so many of them.
bool is_hex_of(std::string_view text, std::size_t digits);

}  // namespace stackgate::puller
