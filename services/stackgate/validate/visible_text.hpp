// What may be written to a terminal or a build's log.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace stackgate {

/// The first `count` characters on one line: what controls a terminal, turns the direction of writing, or is no UTF-8,
/// becomes '?'.
std::string visible_text(std::string_view text, std::size_t count = std::string_view::npos);

}  // namespace stackgate
