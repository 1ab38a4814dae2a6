#include "services/datastore/git/lfs_pointer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/base/number.hpp"

namespace stackgate::datastore::git {

std::optional<LfsPointer> parse_lfs_pointer(std::string_view text) {
  constexpr std::string_view versions[] = {"version https://git-lfs.github.com/spec/v1\n",
                                           "version http://git-media.io/v/2\n",
                                           "version https://hawser.github.com/spec/v1\n"};
  if (text.size() > lfs_pointer_most) return std::nullopt;
  const auto* version = std::ranges::find_if(versions, [&](std::string_view v) { return text.starts_with(v); });
  if (version == std::end(versions)) return std::nullopt;
  LfsPointer out;
  out.pointer_size = text.size();
  bool sized = false;
  for (std::string_view rest = text.substr(version->size()); !rest.empty();) {
    const auto end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    if (constexpr std::string_view key = "oid sha256:"; line.starts_with(key)) {
      line.remove_prefix(key.size());
      const bool hex =
          std::ranges::all_of(line, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
      if (line.size() != 64 || !hex || !out.oid.empty()) return std::nullopt;
      out.oid = line;
    } else if (constexpr std::string_view size = "size "; line.starts_with(size)) {
      line.remove_prefix(size.size());
      const auto bytes = to_number<std::uint64_t>(line);
      if (!bytes || sized) return std::nullopt;
      out.size = *bytes;
      sized = true;
    } else if (line.find(' ') == std::string_view::npos) {
      return std::nullopt;  // other keys (extensions) are "key value"
    }
  }
  if (out.oid.empty() || !sized) return std::nullopt;
  return out;
}

std::string format_lfs_pointer(std::string_view sha256_hex, std::uint64_t size) {
  return fmt::format("version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize {}\n", sha256_hex, size);
}

}  // namespace stackgate::datastore::git
