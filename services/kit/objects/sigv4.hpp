// AWS Signature Version 4 as S3 wants it: headers and presigned URLs. Pure; the caller says what time it is.
// Source: "Authenticating Requests (AWS Signature Version 4)" of the Amazon S3 API reference.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stackgate::objects::sigv4 {

using Time = std::chrono::system_clock::time_point;
using Fields = std::vector<std::pair<std::string, std::string>>;

inline constexpr std::string_view unsigned_payload = "UNSIGNED-PAYLOAD";

struct Credentials {
  std::string access_key;
  std::string secret_key;
  std::string session_token{};
  std::string region = "us-east-1";
};

struct Request {
  std::string_view method;
  std::string_view path;  // decoded, from the first slash; S3 encodes it once and normalizes nothing
  Fields query{};         // decoded
  Fields headers{};       // names in lower case; what is here is signed; "host" must be, with its port if unusual
};

/// All but [A-Za-z0-9-._~] as %XX; a slash stays when `keep_slash`.
void append_encoded(std::string& out, std::string_view text, bool keep_slash);

/// The signing key of one day and region: derived once, good until the day (UTC) ends.
struct SigningKey {
  std::string date;  // yyyymmdd
  std::array<unsigned char, 32> bytes{};
};
SigningKey derive_key(const Credentials& credentials, Time now);

/// The headers to send besides the request's own: x-amz-date, x-amz-content-sha256, x-amz-security-token if there is
/// one, authorization. `payload_hash`: hexadecimal SHA-256 of the body, or unsigned_payload.
Fields sign_headers(const Credentials& credentials, const SigningKey& key, const Request& request,
                    std::string_view payload_hash, Time now);

/// Path and query of a URL that authenticates itself for `valid` (1 s to 7 days). The client must send exactly the
/// request's headers with it, and no Authorization. With a header "x-amz-content-sha256" the body is signed too.
std::string presign(const Credentials& credentials, const SigningKey& key, const Request& request, Time now,
                    std::chrono::seconds valid);

/// Path and query as they are sent, for a request with signed headers.
std::string target_of(const Request& request);

/// yyyymmddThhmmssZ
std::string amz_date(Time now);

}  // namespace stackgate::objects::sigv4
