// Names of an archive's entries: what is stored under which path, what is left out, what is refused. Pure.
#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::archive {

inline constexpr std::size_t longest_name = 255;  // bytes

/// "./dir//file" is "dir/file", "./" is "". The error says why a name is refused: absolute, with "..", with a backslash
/// or a control character, no UTF-8, too long.
std::expected<std::string, std::string> clean_name(std::string_view raw);

/// What tools leave in archives and nobody wants stored: version control, macOS's and editors' traces.
bool is_litter(std::string_view name);

/// The one folder that all names lie in, with its slash; empty when there is none.
std::string common_folder(const std::vector<std::string>& names);

}  // namespace stackgate::archive
