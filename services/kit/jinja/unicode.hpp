// Code points of UTF-8 texts, and Unicode's properties as Python has them. A byte that is no UTF-8 is a code point of
// its own, so that every text has a length and every position a character.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stackgate::jinja {

std::size_t count_points(std::string_view text);
/// Bytes of the code point at the beginning of `text`, which is not empty: 1 to 4.
std::size_t point_size(std::string_view text);
/// Where the code point `index` begins; the text's end when there are not so many.
std::size_t point_offset(std::string_view text, std::size_t index);
/// The code point at the beginning; for a byte that is no UTF-8 the byte.
char32_t point_at(std::string_view text);
void append_point(std::string& out, char32_t point);

bool is_space(char32_t point);
bool is_alpha(char32_t point);
bool is_decimal(char32_t point);
bool is_upper(char32_t point);
bool is_lower(char32_t point);
bool is_title(char32_t point);
/// Python's repr() shows it as it is.
bool is_printable(char32_t point);

std::string upper(std::string_view text);
std::string lower(std::string_view text);
/// The first letter of each word large, the others small. Words end at what is no letter.
std::string title(std::string_view text);
std::string capitalize(std::string_view text);
std::string swap_case(std::string_view text);

/// Without the characters of `set` at the beginning and at the end; without a set: without white space.
std::string_view strip_left(std::string_view text, const std::string_view* set = nullptr);
std::string_view strip_right(std::string_view text, const std::string_view* set = nullptr);

}  // namespace stackgate::jinja
