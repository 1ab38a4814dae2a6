// A request passed on to an upstream and its answer passed back as it comes, without a thread: what gateways and
// proxies are made of (RFC 9110, 7.6).
#pragma once
#include <expected>
#include <memory>
#include <string_view>

#include "services/kit/http_client/client.hpp"
#include "services/kit/web/call.hpp"
#include "services/kit/web/deferred.hpp"

namespace stackgate::relay {

/// The request as it goes on: its method, path and query behind `base` ("http://10.0.0.7:8000"), its end-to-end headers
/// but for traceparent (the client adds that), our request id, its body (inflated). To be changed at will. The failure
/// is that of Call::body().
std::expected<http_client::Request, web::Failure> forwarded(web::Call& call, std::string_view base);

/// Defers `call`, sends `request` and answers with what comes: status, end-to-end headers, body; a short body of a
/// known length at once, everything else piece by piece. Back-pressure reaches the upstream, and a client that leaves
/// ends the exchange with it. 502 when there is no answer; one that breaks off is cut. For handlers on any thread,
/// which return what this returns.
web::Answer relay(web::Call& call, const http_client::Client& client, http_client::Request request);

/// Who wants to know how an answer passes; lives as long as it does. Called on its way, one call at a time: must not
/// block.
class Witness {
 public:
  Witness() = default;
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;
  virtual ~Witness() = default;
  /// The body's first bytes have come.
  virtual void first_piece() {}
  /// All has come and was handed to the client. Without this call the answer was cut, or the client has left.
  virtual void whole() {}
};

/// The second half of relay(), for who has deferred the call, sent the request and looked at the answer's head first;
/// its on_closed() cancels the exchange.
void pass_back(std::shared_ptr<web::Deferred> client, std::expected<http_client::Answer, Error> answer,
               std::shared_ptr<Witness> witness = {});

}  // namespace stackgate::relay
