// Why a call to the API server did not succeed, as a value.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace stackgate::kube {

enum class Failure : std::uint8_t {
  none,
  answered,     // the server said no: see code and reason
  unreachable,  // nothing was sent: no such host, connection refused, TLS refused
  timed_out,    // sent, no whole answer in time: it may have been carried out
  interrupted,  // sent, the connection broke: it may have been carried out
  credentials,  // no token or certificate could be had
  malformed,    // the answer is not what the API promises
  cancelled,    // by us
  limited,      // not sent: our own rate limit leaves no room within the call's time
};
std::string_view to_string(Failure failure);

struct ApiError {
  Failure failure = Failure::none;
  int code = 0;         // HTTP status; 0 when nothing was answered
  std::string reason;   // the Status object's reason: NotFound, AlreadyExists, Conflict, Forbidden, Expired, …
  std::string message;  // one sentence for a person, with the request it belongs to
  std::chrono::seconds retry_after{0};  // what the server asked for

  bool not_found() const { return code == 404; }
  /// The object `name` does not exist, although its type does: a 404 alone also answers for unknown types.
  bool object_missing(std::string_view name) const;
  bool conflict() const { return code == 409; }  // AlreadyExists and Conflict alike
  bool forbidden() const { return code == 403 || code == 401; }
  bool gone() const { return code == 410; }
};

/// From an answer of status >= 300. `body` is the Status object if the server sent one; any other text is quoted
/// shortened. `what` names the request: "GET /api/v1/…".
ApiError error_from_answer(std::string_view what, int code, std::string_view body, std::chrono::seconds retry_after);

}  // namespace stackgate::kube
