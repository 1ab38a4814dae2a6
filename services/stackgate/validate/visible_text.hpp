// What may be written to a terminal or a build's log.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "services/stackgate/validate/report.hpp"

namespace stackgate {

/// The first `count` characters on one line: what controls a terminal, turns the direction of writing, or is no UTF-8,
/// becomes '?'.
std::string visible_text(std::string_view text, std::size_t count = std::string_view::npos);

/// Whether `shown`, a piece of the source around the finding, may hold a secret: the finding's value is one that is
/// withheld, or words of the piece say so.
bool may_hold_secret(const Entry& entry, std::string_view shown);

}  // namespace stackgate
