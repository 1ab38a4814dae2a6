// The routing table: data, matched on the raw path.
//
//   {"GET", "/{owner}/{repo}.git/info/refs", info_refs}      a segment may have a literal end
//   {"GET", "/v1/hf/{owner}/{repo}/resolve/{revision}/{path...}", resolve, {.dialect = Dialect::hub}}
//
// A parameter is one raw segment, so an escaped slash stays inside it; `{name...}` at the end takes the rest, slashes
// and all (each segment is decoded for itself). Literal segments win over parameters, parameters over the rest, from
// left to right, with a way back. HEAD is served by GET's handler. A path that is known under other methods gets 405
// with Allow; OPTIONS is answered from the table.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "services/kit/web/answer.hpp"

namespace stackgate::web {

class Call;

/// Plain functions, or lambdas over the service's state. An exception that leaves one is logged and answered with 500.
using Handler = std::function<Answer(Call&)>;

/// Where errors are read: each API's clients look for them in another shape (errors.hpp).
enum class Dialect : std::uint8_t { plain, text, gitea, lfs, hub, openai, nemo, html };

/// Where a request's handler works, and in whose share.
struct Placement {
  enum class Where : std::uint8_t { io_thread, pool, transfers };
  Where where = Where::pool;
  std::string share{};  // empty: its client address
};

struct RouteOptions {
  /// Whose shape errors take.
  Dialect dialect = Dialect::plain;
  /// true: on the I/O thread. Only for what never waits: no database, no file, under 100 µs.
  bool on_io_thread = false;
  /// true: the handler reads Call::stream(); false: Call::body() is whole before it is called.
  bool streams_body = false;
  /// true: it may last as long as its client likes, because its answer is long (a file, a pack). Such routes, and all
  /// that stream their body, work on threads of their own, of which each client address gets a share.
  bool transfer = false;
  /// Buffered: 413 beyond it. Streamed: 0 means no limit.
  std::uint64_t body_bytes = 1024 * 1024;
  /// Buffered: for the whole of it, from the request's head on; 408 beyond it.
  std::chrono::milliseconds body_deadline{30'000};
  /// Streamed: the longest wait for the client to send `progress` bytes; 408 beyond it. Only time spent waiting for it
  /// counts. There is no limit on the whole.
  std::chrono::milliseconds pause{60'000};
  /// 0: what AppConfig::min_rate gives.
  std::uint64_t progress = 0;
  /// false: neither in the access log at info level, nor traced, nor in latency figures: health and metrics.
  bool quiet = false;
};

struct Route {
  std::string_view method;
  std::string_view pattern;  // also the label of metrics and spans
  Handler handler;
  RouteOptions options{};
  /// Instead of `on_io_thread`, `transfer` and the client address: asked for each request on the I/O thread, where it
  /// must not wait; a buffered body is there. For what a body decides ("stream": true), and for shares by API key
  /// where all users come from one address (share_by_header).
  std::function<Placement(Call&)> place{};
};

}  // namespace stackgate::web
