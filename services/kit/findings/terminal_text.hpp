// What may be written to a terminal or a build's log, and how many columns it takes: Chinese, Japanese, Korean and
// emoji take two for each character, combining marks none.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace stackgate::validate {

/// Of a text without tabs and other control characters. A byte that is no UTF-8 counts as one column.
std::size_t terminal_width(std::string_view text);

/// Spaces that take as much as the text does. Tabs stay tabs: how wide one is depends on where it stands.
std::string blank_of(std::string_view text);

/// The first `count` characters on one line: what controls a terminal, turns the direction of writing, or is no UTF-8,
/// becomes '?'.
std::string visible_text(std::string_view text, std::size_t count = std::string_view::npos);

}  // namespace stackgate::validate
