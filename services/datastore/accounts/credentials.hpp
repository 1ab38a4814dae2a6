// What an Authorization header says (RFC 9110 11.4, RFC 7617, RFC 6750; "token" is Gitea's). Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace stackgate::datastore {

struct Credentials {
  enum class Kind : std::uint8_t {
    none,       // no header, or an empty Bearer token as clients without one send it
    password,   // name and secret
    token,      // secret
    malformed,  // a scheme that is not ours, broken base64
  };
  Kind kind = Kind::none;
  std::string name{};
  std::string secret{};
};

/// Personal tokens begin so: the Hugging Face client for JavaScript refuses to send any that do not begin with "hf_".
inline constexpr std::string_view token_mark = "hf_sg";
bool looks_like_token(std::string_view secret);

Credentials read_credentials(std::string_view authorization);

}  // namespace stackgate::datastore
