// A routing table served: HTTP server, pool for what waits, access log, metrics, request ids, traces, health.
#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "services/kit/base/error.hpp"
#include "services/kit/http/server.hpp"
#include "services/kit/metrics/registry.hpp"
#include "services/kit/web/call.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::web {

class ServerMetrics;
struct AppState;

/// One finished request, for observers (traces, a service's own access table). Called on the thread that
/// finished it; must not block.
struct Served {
  const http::Request& request;                 // head only; its body may be gone
  std::string_view pattern, request_id, actor;  // pattern: "unmatched" where no route was found
  int status;
  std::uint64_t bytes_in, bytes_out;  // of bodies
  std::chrono::nanoseconds took;
  const TraceContext& trace;
  std::chrono::system_clock::time_point began;
  bool quiet;  // RouteOptions::quiet
  bool whole;  // false: the answer was cut off
};

struct AppConfig {
  http::ServerConfig server{};
  unsigned pool_threads = 16;     // requests that work at the same time
  std::size_t pool_queue = 1024;  // and wait for that, of either kind; beyond it: 503 with Retry-After
  /// Uploads and downloads at the same time (RouteOptions::transfer, streams_body), beside pool_threads.
  unsigned transfer_threads = 32;
  /// Of them those of one client address; IPv6: of one /64. 0: half. A request that finds its share used up waits for
  /// transfer_wait, then: 503 with Retry-After.
  unsigned transfers_per_client = 0;
  std::chrono::milliseconds transfer_wait{5'000};
  /// Answers that are waited for without a thread at the same time (Call::defer), and those of one share. 0: half.
  unsigned deferred = 4096;
  unsigned deferred_per_share = 0;
  /// Bytes a second that a client must send or take while it is waited for, at the least: in half a minute of waiting
  /// as many as this gives, where the pause that it may make is so long. 0: any byte is progress.
  std::uint64_t min_rate = 4096;
  std::string public_url{};         // see Call::base_url
  bool trust_forwarded = false;     // X-Forwarded-Proto, -Host and (its last address) -For are believed
  std::string documentation_url{};  // named in errors of the dialects that have a place for it
  metrics::Registry* metrics = nullptr;
  std::function<bool()> stopping{};  // see Call::stopping(); thread-safe
  bool sample_new_traces = false;    // those that begin here
  /// Whether a request's trace is sampled, instead of the caller's flag and sample_new_traces. `trace` has the caller's
  /// flag, and no parent_id when it begins here. Called on the I/O thread.
  std::function<bool(const http::Request& request, const TraceContext& trace, bool quiet)> sampler{};
  std::vector<std::function<void(const Served&)>> observers{};
};

class App {
 public:
  /// config.server's body_policy, fault_answer and limits.write_progress are the App's own. The error names a pattern
  /// that is malformed or stands twice.
  static std::expected<std::unique_ptr<App>, Error> start(AppConfig config, std::vector<Route> routes);
  /// Cuts what is still being served and waits for the handlers. Drain server() first.
  ~App();
  std::uint16_t port() const { return server_->port(); }
  http::Server& server() { return *server_; }  // for run::stop_gracefully

 private:
  App(std::unique_ptr<metrics::Registry> own, std::unique_ptr<AppState> state, std::unique_ptr<http::Server> server);
  static void serve(AppState& state, const http::Request& request, http::Responder responder);

  const std::unique_ptr<metrics::Registry> own_;  // null: AppConfig has one
  const std::unique_ptr<AppState> state_;
  const std::unique_ptr<http::Server> server_;
  const std::shared_ptr<ServerMetrics> server_metrics_;
};

}  // namespace stackgate::web
