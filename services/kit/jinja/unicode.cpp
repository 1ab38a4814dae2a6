#include "services/kit/jinja/unicode.hpp"

#include <algorithm>

#include <utf8proc.h>

#include "services/kit/base/utf8.hpp"

namespace stackgate::jinja {
namespace {

bool is_ascii_byte(char c) { return static_cast<unsigned char>(c) < 0x80; }
utf8proc_category_t category(char32_t point) { return utf8proc_category(static_cast<utf8proc_int32_t>(point)); }

// Python maps some letters to several; utf8proc's simple mapping does not.
struct Wide {
  char32_t from;
  std::string_view upper;
  std::string_view title;
};
constexpr Wide wide_upper[] = {
    {0xDF, "SS", "Ss"},     {0x149, "ʼN", "ʼN"},  {0x1F0, "J̌", "J̌"},    {0x390, "Ϊ́", "Ϊ́"},    {0x3B0, "Ϋ́", "Ϋ́"},
    {0x587, "ԵՒ", "Եւ"},    {0xFB00, "FF", "Ff"}, {0xFB01, "FI", "Fi"}, {0xFB02, "FL", "Fl"}, {0xFB03, "FFI", "Ffi"},
    {0xFB04, "FFL", "Ffl"}, {0xFB05, "ST", "St"}, {0xFB06, "ST", "St"},
};

const Wide* wide(char32_t point) {
  if (point < 0xDF) return nullptr;
  const auto* at = std::ranges::find(wide_upper, point, &Wide::from);
  return at == std::end(wide_upper) ? nullptr : at;
}

enum class Case : std::uint8_t { upper, lower, title };

void append_mapped(std::string& out, char32_t point, Case to) {
  if (const Wide* several = to == Case::lower ? nullptr : wide(point); several != nullptr) {
    out += to == Case::upper ? several->upper : several->title;
    return;
  }
  if (point == 0x130 && to == Case::lower) {
    out += "i̇";
    return;
  }
  const auto code = static_cast<utf8proc_int32_t>(point);
  const utf8proc_int32_t mapped = to == Case::upper   ? utf8proc_toupper(code)
                                  : to == Case::lower ? utf8proc_tolower(code)
                                                      : utf8proc_totitle(code);
  append_point(out, static_cast<char32_t>(mapped));
}

bool is_cased(char32_t point) { return is_upper(point) || is_lower(point) || is_title(point); }

bool is_cased_before(std::string_view text, std::size_t at) {
  if (at == 0) return false;
  --at;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) --at;
  return is_cased(point_at(text.substr(at)));
}

// A sigma at a word's end has a form of its own.
bool ends_word(std::string_view text, std::size_t at, std::size_t size) {
  return is_cased_before(text, at) && (at + size >= text.size() || !is_cased(point_at(text.substr(at + size))));
}

// Calls visit(point, bytes, offset) for each code point.
template <class Visit>
void each_point(std::string_view text, const Visit& visit) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = point_size(text.substr(at));
    visit(point_at(text.substr(at)), text.substr(at, size), at);
    at += size;
  }
}

void append_lower(std::string& out, std::string_view text, char32_t point, std::size_t at, std::size_t size) {
  if (point == 0x3A3 && ends_word(text, at, size)) return append_point(out, 0x3C2);
  append_mapped(out, point, Case::lower);
}

// `choose` gives the case of a code point by what stood before it.
template <class Choose>
std::string map_points(std::string_view text, const Choose& choose) {
  std::string out;
  out.reserve(text.size());
  each_point(text, [&](char32_t point, std::string_view bytes, std::size_t at) {
    const Case to = choose(point);
    if (point >= 0x80 && bytes.size() == 1) {
      out += bytes;  // no UTF-8
    } else if (to == Case::lower) {
      append_lower(out, text, point, at, bytes.size());
    } else {
      append_mapped(out, point, to);
    }
  });
  return out;
}

bool in_set(std::string_view point, const std::string_view* set) {
  return set == nullptr ? is_space(point_at(point)) : set->contains(point);
}

}  // namespace

std::size_t point_size(std::string_view text) { return std::max<std::size_t>(utf8::sequence_length(text), 1); }

std::size_t count_points(std::string_view text) {
  if (std::ranges::all_of(text, is_ascii_byte)) return text.size();
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += point_size(text.substr(at))) ++count;
  return count;
}

std::size_t point_offset(std::string_view text, std::size_t index) {
  std::size_t at = 0;
  for (; index > 0 && at < text.size(); --index) at += point_size(text.substr(at));
  return at;
}

char32_t point_at(std::string_view text) {
  if (utf8::sequence_length(text) == 0) return static_cast<unsigned char>(text[0]);
  return utf8::character_at(text).code;
}

void append_point(std::string& out, char32_t point) {
  char bytes[4];
  out.append(bytes, utf8::encode(static_cast<std::uint32_t>(point), bytes));
}

bool is_space(char32_t point) {
  if (point < 0x80) return point == ' ' || (point >= 0x09 && point <= 0x0D) || (point >= 0x1C && point <= 0x1F);
  return point == 0x85 || category(point) == UTF8PROC_CATEGORY_ZS || point == 0x2028 || point == 0x2029;
}

bool is_alpha(char32_t point) {
  const auto kind = category(point);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}

bool is_decimal(char32_t point) { return category(point) == UTF8PROC_CATEGORY_ND; }
bool is_upper(char32_t point) { return category(point) == UTF8PROC_CATEGORY_LU; }
bool is_lower(char32_t point) { return category(point) == UTF8PROC_CATEGORY_LL || point == 0xAA || point == 0xBA; }
bool is_title(char32_t point) { return category(point) == UTF8PROC_CATEGORY_LT; }

bool is_printable(char32_t point) {
  if (point < 0x7F) return point >= ' ';
  switch (category(point)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
      return false;
    default:
      return true;
  }
}

std::string upper(std::string_view text) {
  return map_points(text, [](char32_t) { return Case::upper; });
}

std::string lower(std::string_view text) {
  return map_points(text, [](char32_t) { return Case::lower; });
}

std::string title(std::string_view text) {
  bool inside = false;
  return map_points(text, [&inside](char32_t point) {
    const Case to = inside ? Case::lower : Case::title;
    inside = is_cased(point);
    return to;
  });
}

std::string capitalize(std::string_view text) {
  bool first = true;
  return map_points(text, [&first](char32_t) {
    const Case to = first ? Case::title : Case::lower;
    first = false;
    return to;
  });
}

std::string swap_case(std::string_view text) {
  return map_points(text, [](char32_t point) { return is_upper(point) ? Case::lower : Case::upper; });
}

std::string_view strip_left(std::string_view text, const std::string_view* set) {
  while (!text.empty()) {
    const std::size_t size = point_size(text);
    if (!in_set(text.substr(0, size), set)) break;
    text.remove_prefix(size);
  }
  return text;
}

std::string_view strip_right(std::string_view text, const std::string_view* set) {
  while (!text.empty()) {
    std::size_t at = text.size() - 1;
    for (std::size_t back = 1; back < 4 && at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U; ++back)
      --at;
    if (point_size(text.substr(at)) != text.size() - at) at = text.size() - 1;
    if (!in_set(text.substr(at), set)) break;
    text = text.substr(0, at);
  }
  return text;
}

}  // namespace stackgate::jinja
