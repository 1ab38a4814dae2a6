// ASCII classes and the naming of characters in messages; shared by the grammars, locale-free.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace stackgate::validate::grammar {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_letter(char c) { return is_lower(c) || is_upper(c); }
constexpr bool is_alphanumeric(char c) { return is_letter(c) || is_digit(c); }
constexpr bool is_lower_alphanumeric(char c) { return is_lower(c) || is_digit(c); }
constexpr bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr char to_lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

std::string to_lower(std::string_view text);
std::string_view trim(std::string_view text);

/// "'_'", "a space", "'é'", "byte 0xff": the character that begins at `at`.
std::string name_character(std::string_view text, std::size_t at);

/// "'_' (character 3)": the same with its place, counted in characters from one.
std::string place_character(std::string_view text, std::size_t at);

/// The text in quotes for a "write …" phrase, or empty when it is too long (over 80 bytes) or holds anything but
/// printable ASCII, and would not help as a suggestion.
std::string quote_short(std::string_view text);

/// Number of code points; a byte that is not UTF-8 counts as one.
std::size_t count_characters(std::string_view text);

}  // namespace stackgate::validate::grammar
