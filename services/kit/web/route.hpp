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
#include <string_view>

#include "services/kit/web/answer.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::web {

/// Plain functions, or lambdas over the service's state. An exception that leaves one is logged and answered with 500.
using Handler = std::function<Answer(Call&)>;

/// Where errors are read: each API's clients look for them in another shape (errors.hpp).
enum class Dialect : std::uint8_t { plain, gitea, lfs, hub, openai, nemo, html };

struct RouteOptions {
  /// Whose shape errors take.
  Dialect dialect = Dialect::plain;
  /// true: on the I/O thread. Only for what never waits: no database, no file, under 100 µs.
  bool on_io_thread = false;
  /// true: the handler reads Call::stream(); false: Call::body() is whole before it is called.
  bool streams_body = false;
  /// Buffered: 413 beyond it. Streamed: 0 means no limit.
  std::uint64_t body_bytes = 1024 * 1024;
  /// The longest pause between two bytes of a streamed body. There is no limit on the whole.
  std::chrono::milliseconds pause{60'000};
  /// false: neither in the access log at info level, nor traced, nor in latency figures: health and metrics.
  bool quiet = false;
};

struct Route {
  std::string_view method;
  std::string_view pattern;  // also the label of metrics and spans
  Handler handler;
  RouteOptions options{};
};

}  // namespace stackgate::web
