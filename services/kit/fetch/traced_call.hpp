// A call made on behalf of a request: the trace is passed on (W3C Trace Context), and the observer hears how it ended.
#pragma once
#include <chrono>
#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "services/kit/fetch/client.hpp"

namespace stackgate::fetch {

using ExtraHeaders = std::vector<std::pair<std::string, std::string>>;

/// Whether this thread has a trace that the other side of `call` should learn of.
bool tells_trace(const Call& call, const Options& options);

class TracedCall {
 public:
  /// `call` must outlive it. Under a trace only.
  explicit TracedCall(const Call& call);
  /// What goes with the call besides its own.
  const ExtraHeaders& headers() const { return headers_; }
  /// Once.
  void ended(const std::expected<Reply, Error>& reply) const;

 private:
  const CurrentTrace trace_;
  std::string span_id_;  // empty: nobody would see a span of its own, so the caller's is passed on
  const Call& call_;
  ExtraHeaders headers_;
  std::chrono::system_clock::time_point began_ = std::chrono::system_clock::now();
  std::chrono::steady_clock::time_point at_ = std::chrono::steady_clock::now();
};

}  // namespace stackgate::fetch
