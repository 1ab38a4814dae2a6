// The header of one part of a multipart/form-data body (RFC 7578, 4). Pure.
#pragma once
#include <expected>
#include <string_view>

#include "services/kit/web/multipart.hpp"

namespace stackgate::web {

/// `text`: the lines without the empty one at the end. 400 when a line is broken, the part has no name, or its content
/// is encoded.
std::expected<PartHead, Failure> parse_part_head(std::string_view text);

}  // namespace stackgate::web
