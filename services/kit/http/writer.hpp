// Responses as bytes (RFC 9112).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "services/kit/http/message.hpp"

namespace stackgate::http {

/// How a body that follows the head ends (RFC 9112, 6.3).
enum class Framing : std::uint8_t { length, chunked, until_close };

struct WriteOptions {
  std::string_view date{};  // IMF-fixdate (RFC 9110, 5.6.7)
  bool head_only = false;   // the request was HEAD: the head is GET's, no body follows
  bool close = false;       // write "Connection: close"
  bool keep_alive = false;  // write "Connection: keep-alive", for HTTP/1.0 peers
};

/// Appends the response. Control characters in the handler's headers become '?', so no header can end early.
void append_response(std::string& out, const Response& response, const WriteOptions& options);

/// Only its head; the body of `length` bytes (or of unknown size) is sent by other means.
void append_head(std::string& out, const Response& response, const WriteOptions& options, Framing framing,
                 std::uint64_t length);

/// Neither 1xx nor 204 nor 304.
constexpr bool may_have_body(int status) { return status >= 200 && status != 204 && status != 304; }

/// "Not Found"; "Unknown" for a status that RFC 9110 does not have.
std::string_view reason_phrase(int status);

}  // namespace stackgate::http
