// What is kept of a request until it has been served, and what is made of it then: log line, figures, observers.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "services/kit/http/message.hpp"
#include "services/kit/web/trace_context.hpp"

namespace stackgate::web {

class HttpMetrics;
struct AppConfig;
struct Route;

struct RequestRecord {
  const http::Request* request = nullptr;
  std::string_view pattern = "unmatched";
  bool quiet = false;
  std::chrono::steady_clock::time_point at = std::chrono::steady_clock::now();
  std::chrono::system_clock::time_point began = std::chrono::system_clock::now();
  std::string request_id{};
  TraceContext trace{};
  std::string actor{};
  std::uint64_t bytes_in = 0;
};

/// Reads the ids off the request, or makes them. `route`: null where there is none.
RequestRecord begin_record(const http::Request& request, const Route* route, const AppConfig& config);

/// X-Request-Id, and nosniff unless the answer sets it.
void add_common_headers(http::Response& response, std::string_view request_id);

struct Outcome {
  int status = 0;
  std::uint64_t bytes_out = 0;
  bool whole = true;
};

/// Never throws: a full disk under the log must not cost the answer.
void finish_record(const RequestRecord& record, const Outcome& outcome, HttpMetrics& metrics,
                   const AppConfig& config) noexcept;

/// A request line's target for logs: values of parameters whose names sound like secrets are left out, and what is
/// beyond 1 KiB. Pure.
std::string loggable_target(std::string_view path, std::string_view query);

/// A sane X-Request-Id: 1 to 128 of A-Z a-z 0-9 . _ - : / + =
bool is_request_id(std::string_view text);

/// The head of a request in memory of its own, for what outlives the connection's buffer.
class KeptRequest {
 public:
  explicit KeptRequest(const http::Request& request);
  KeptRequest(const KeptRequest&) = delete;
  KeptRequest& operator=(const KeptRequest&) = delete;
  const http::Request& get() const { return request_; }

 private:
  std::string bytes_;
  http::Request request_;
};

}  // namespace stackgate::web
