// ASCII classes and the naming of characters in messages; shared by the grammars, locale-free.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "services/kit/base/ascii.hpp"

namespace stackgate::validate::grammar {

using namespace ascii;  // the grammars speak of is_digit() and the like as their own

constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

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
