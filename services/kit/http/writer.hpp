// Responses as bytes (RFC 9112).
#pragma once
#include <string>
#include <string_view>

#include "services/kit/http/message.hpp"

namespace stackgate::http {

struct WriteOptions {
  std::string_view date{};  // IMF-fixdate (RFC 9110, 5.6.7)
  bool head_only = false;   // the request was HEAD: the head says what GET would get, no body follows
  bool close = false;       // say "Connection: close"
  bool keep_alive = false;  // say so, as an HTTP/1.0 peer wants it
};

/// Appends the response. Control characters in the handler's headers become '?', so no header can end early.
void append_response(std::string& out, const Response& response, const WriteOptions& options);

/// "Not Found"; "Unknown" for a status that RFC 9110 does not have.
std::string_view reason_phrase(int status);

}  // namespace stackgate::http
