// Whether something failed because there is no room: the disk, a quota, or the size that a file may have.
#pragma once
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace stackgate {

inline constexpr std::array out_of_space_numbers = {ENOSPC, EDQUOT, EFBIG};

/// `number` is an errno.
constexpr bool is_out_of_space(int number) {
  return std::ranges::find(out_of_space_numbers, number) != out_of_space_numbers.end();
}

/// Of programs and libraries that report in words: the C library's, in the locale "C".
inline bool reports_out_of_space(std::string_view text) {
  return std::ranges::any_of(out_of_space_numbers,
                             [&](int number) { return text.contains(std::string_view(std::strerror(number))); });
}

}  // namespace stackgate
