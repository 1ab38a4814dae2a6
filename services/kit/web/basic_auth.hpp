// The credentials of a client: the Authorization header (RFC 9110, 11.6.2; RFC 7617; RFC 6750). Pure, and
// nothing here logs.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace stackgate::web {

struct Credentials {
  enum class Scheme : std::uint8_t {
    none,     // no header, or an empty one
    basic,    // user and secret
    bearer,   // secret; may be empty: some clients send "Bearer" alone
    token,    // secret; Gitea's "token …"
    unknown,  // another scheme, or broken base64: treat as wrong, not as absent
  };
  Scheme scheme = Scheme::none;
  std::string user{};
  std::string secret{};
};

Credentials parse_authorization(std::string_view header);

/// `Basic realm="…", charset="UTF-8"`, for WWW-Authenticate and LFS-Authenticate.
std::string basic_challenge(std::string_view realm);

}  // namespace stackgate::web
