// Base64 (RFC 4648 section 4, with padding), as Kubernetes uses it in Secrets, kubeconfigs and caBundle.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace stackgate::base64 {

std::string encode(std::string_view bytes);

/// Line breaks are passed over; anything else that is not base64 gives nothing.
std::optional<std::string> decode(std::string_view text);

}  // namespace stackgate::base64
