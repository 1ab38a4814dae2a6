// Percent-encoding (RFC 3986, 2.1). Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace stackgate {

/// Everything but unreserved characters (RFC 3986, 2.3) escaped; `keep` names more that stay, '/' for whole paths.
std::string percent_encode(std::string_view text, std::string_view keep = {});
void append_percent_encoded(std::string& out, std::string_view text, std::string_view keep = {});

/// Nothing when an escape is broken.
std::optional<std::string> percent_decoded(std::string_view text);
/// The byte that "%XX" at `at` stands for, or -1.
int percent_decoded_byte(std::string_view text, std::size_t at);

}  // namespace stackgate
