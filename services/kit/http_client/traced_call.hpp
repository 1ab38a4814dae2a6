// A call made on behalf of a request: the trace is passed on (W3C Trace Context), and the observer gets how it ended.
#pragma once
#include <chrono>
#include <string>
#include <string_view>

#include "services/kit/http_client/client.hpp"

namespace stackgate::http_client {

/// Whether this thread has a trace that the other side of `call` should get.
bool passes_trace_on(const Request& call, const Options& options);

class TracedCall {
 public:
  /// Under a trace only. Keeps copies.
  explicit TracedCall(const Request& call);
  /// What goes with the call besides its own; once.
  Headers take_headers() { return std::move(headers_); }
  /// Once, from any thread. `status` is 0 without a reply.
  void ended(int status, std::string_view error) const;

 private:
  std::string span_id_;  // empty: there is no observer, so the caller's span is passed on, and no more is kept
  std::string trace_id_, parent_id_, state_, method_, url_;
  Headers headers_;
  std::chrono::system_clock::time_point began_ = std::chrono::system_clock::now();
  std::chrono::steady_clock::time_point at_ = std::chrono::steady_clock::now();
};

}  // namespace stackgate::http_client
