// URLs that authenticate themselves: the query says until when and what is allowed, and an HMAC-SHA256 at its end
// covers it with method and path. For upload and download links that clients call without headers.
//   path + "?" + sign_query(key, {.method = "PUT", .path = path, .extras = {{"size", "17"}}}, now + 15min)
// Pure. The query is signed as it stands: whoever passes it on must not reorder or extend it.
#pragma once
#include <chrono>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stackgate::crypto {

struct SignedUrl {
  std::string_view method;                                    // as verify_query() will be asked: give "GET" for a HEAD
  std::string_view path;                                      // raw, as on the request line
  std::vector<std::pair<std::string, std::string>> extras{};  // names of [A-Za-z0-9_-], not "expires" or "signature"
};

/// "size=17&expires=1767225600&signature=<base64url>". The key should have 32 bytes or more.
std::string sign_query(std::string_view key, const SignedUrl& url, std::chrono::system_clock::time_point expires);

/// The extras, if the signature is the key's for this method, path and query and the time has not run out. The error
/// tells "expired" from "not valid" and is fit for a client.
std::expected<std::vector<std::pair<std::string, std::string>>, std::string> verify_query(
    std::string_view key, std::string_view method, std::string_view path, std::string_view query,
    std::chrono::system_clock::time_point now);

}  // namespace stackgate::crypto
