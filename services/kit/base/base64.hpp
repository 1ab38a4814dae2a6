// Base64 (RFC 4648 section 4, with padding), as Kubernetes uses it in Secrets, kubeconfigs and caBundle; and the URL
// kind.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace stackgate::base64 {

std::string encode(std::string_view bytes);

/// Line breaks are passed over; anything else that is not base64 gives nothing.
std::optional<std::string> decode(std::string_view text);

/// The alphabet for URLs (RFC 4648 section 5), without padding.
std::string encode_url(std::string_view bytes);

/// Nothing for padding, line breaks, other characters, or bits left over: each text has one spelling.
std::optional<std::string> decode_url(std::string_view text);

}  // namespace stackgate::base64
