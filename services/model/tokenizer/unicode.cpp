#include "services/model/tokenizer/unicode.hpp"

#include <algorithm>
#include <array>

#include <utf8proc.h>

namespace stackgate::tokenizer {

bool is_white_space(std::uint32_t code) {
  return (code >= 0x09 && code <= 0x0D) || code == 0x20 || code == 0x85 || code == 0xA0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F ||
         code == 0x3000;
}

bool is_word(std::uint32_t code) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      return code == 0x200C || code == 0x200D || (code >= 0x24B6 && code <= 0x24E9);  // joiners; circled letters
  }
}

void append_lower(std::uint32_t code, std::vector<std::int32_t>& out) {
  if (code == 0x130) {
    out.insert(out.end(), {0x69, 0x307});
    return;
  }
  out.push_back(utf8proc_tolower(static_cast<utf8proc_int32_t>(code)));
}

void append_decomposed(std::uint32_t code, bool compatibility, std::vector<std::int32_t>& out) {
  std::array<utf8proc_int32_t, 32> parts{};  // the longest, U+FDFA, has 18
  int last_boundary_class = 0;
  const int options = UTF8PROC_DECOMPOSE | (compatibility ? static_cast<int>(UTF8PROC_COMPAT) : 0);
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), parts.data(), parts.size(),
                                             static_cast<utf8proc_option_t>(options), &last_boundary_class);
  if (count <= 0 || static_cast<std::size_t>(count) > parts.size()) {
    out.push_back(static_cast<std::int32_t>(code));
    return;
  }
  out.insert(out.end(), parts.begin(), parts.begin() + count);
}

bool begins_segment(std::int32_t code) {
  if (code < 0x300) return true;
  if (code >= 0x1160 && code <= 0x11FF) return false;  // vowels and finals of Hangul
  const utf8proc_property_t* property = utf8proc_get_property(code);
  const int category = property->category;
  return property->combining_class == 0 && category != UTF8PROC_CATEGORY_MN && category != UTF8PROC_CATEGORY_MC &&
         category != UTF8PROC_CATEGORY_ME;
}

void order_marks(std::vector<std::int32_t>& codes) {
  const auto mark_class = [](std::int32_t code) { return utf8proc_get_property(code)->combining_class; };
  auto at = codes.begin();
  while (at != codes.end()) {
    const auto first = std::find_if(at, codes.end(), [&](auto code) { return mark_class(code) != 0; });
    at = std::find_if(first, codes.end(), [&](auto code) { return mark_class(code) == 0; });
    if (at - first > 1)
      std::stable_sort(first, at, [&](auto left, auto right) { return mark_class(left) < mark_class(right); });
  }
}

void compose(std::vector<std::int32_t>& codes) {
  const auto left = utf8proc_normalize_utf32(codes.data(), static_cast<utf8proc_ssize_t>(codes.size()),
                                             static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
  if (left >= 0) codes.resize(static_cast<std::size_t>(left));
}

}  // namespace stackgate::tokenizer
