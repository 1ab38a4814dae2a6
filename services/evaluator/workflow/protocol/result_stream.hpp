// Streams of a workflow server: {"result": …} in lines "data: {…}" of Server-Sent Events, or in lines by themselves;
// other lines are none. Pure; not thread-safe.
// Source: Argo Workflows' server (lines "data: {…}" with Accept: text/event-stream), grpc-gateway's streams.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "services/kit/json/value.hpp"

namespace stackgate::evaluator {

class ResultStream {
 public:
  /// false ends the reading. The value lives as long as the call.
  using Take = std::function<bool(const json::Value& result)>;

  /// Bytes in pieces of any size. False: `take` wants no more, or there is a fault.
  bool feed(std::string_view bytes, const Take& take);
  /// The last line, where it has no end: a stream that was cut leaves half of one, which is passed over.
  bool finish(const Take& take);

  /// An error inside of the stream, or a line beyond 8 MiB; "": none. What is no JSON is passed over and counted.
  const std::string& fault() const { return fault_; }
  std::size_t passed_over() const { return passed_over_; }

 private:
  bool end_line(const Take& take);

  std::string line_{};
  std::string fault_{};
  std::size_t passed_over_ = 0;
};

}  // namespace stackgate::evaluator
