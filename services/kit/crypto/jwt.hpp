// JSON Web Tokens (RFC 7519), signed with HS256 (RFC 7515) and nothing else: "none", other HMACs and public-key
// algorithms are refused whatever the header says. Pure.
#pragma once
#include <chrono>
#include <expected>
#include <string>
#include <string_view>

#include "services/kit/json/document.hpp"

namespace stackgate::crypto {

/// `claims`: a JSON object as text. The key should have 32 bytes or more.
std::string sign_jwt(std::string_view key, std::string_view claims);

/// The claims, if the signature is the key's and now lies between nbf and exp (both demanded to be sane numbers, exp to
/// be there; `leeway` on both). The error is for logs: tell a client no more than "invalid or expired token".
std::expected<json::Document, std::string> verify_jwt(std::string_view key, std::string_view token,
                                                      std::chrono::system_clock::time_point now,
                                                      std::chrono::seconds leeway = std::chrono::seconds(30));

}  // namespace stackgate::crypto
