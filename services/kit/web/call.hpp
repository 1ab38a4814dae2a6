// One request being served, as a handler sees it. Lives as long as the handler runs, or its Deferred; belongs to that
// thread.
#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "services/kit/http/body.hpp"
#include "services/kit/http/message.hpp"
#include "services/kit/json/document.hpp"
#include "services/kit/web/answer.hpp"
#include "services/kit/web/query.hpp"
#include "services/kit/web/trace_context.hpp"

namespace stackgate::web {

class Deferred;

class Call {
 public:
  virtual ~Call() = default;

  virtual const http::Request& request() const = 0;
  /// A parameter of the route's pattern, percent-decoded after matching ("feature%2Fx" was one segment). Empty for a
  /// name that the pattern does not have.
  virtual std::string_view parameter(std::string_view name) const = 0;
  /// The query's pairs, decoded, in order.
  virtual const Query& query() const = 0;
  /// The client's X-Request-Id if it is sane, else one of ours; stands in the answer, the log and the trace.
  virtual std::string_view request_id() const = 0;
  /// "https://host[:port]" as the client sees this server: --public-url, else X-Forwarded-Proto/Host from a trusted
  /// proxy, else Host.
  virtual std::string base_url() const = 0;
  /// Who is asking, for the access log; set by the handler once it knows.
  virtual void set_actor(std::string_view name) = 0;
  /// Where this request stands in its trace; format_traceparent() of it goes with calls to other services.
  virtual const TraceContext& trace() const = 0;
  /// The process is draining: long polls and event streams should end soon.
  virtual bool stopping() const = 0;

  /// Buffered routes: the whole body, inflated if it came with Content-Encoding: gzip. The failure is 400, 413 or 415.
  virtual std::expected<std::string_view, Failure> body() = 0;
  /// The same as JSON: 400 with line and column when it is none, 415 when the content type says something else.
  virtual std::expected<const json::Document*, Failure> json() = 0;
  /// Streamed routes: the body as it arrives, inflated likewise (with a limit on the ratio).
  virtual http::BodyReader& stream() = 0;

  /// Begins an answer whose body follows, once; `length` unknown means chunked. Return Streamed{} afterwards. HEAD: the
  /// head is sent and the writer swallows everything. The request's views end with the writer's finish(). A writer that
  /// is destroyed without it cuts the connection; before its first write it has said nothing, so the handler's Failure
  /// is the answer, and gone() and draining() do not know yet.
  virtual std::unique_ptr<http::BodyWriter> start(http::Response head, std::optional<std::uint64_t> length) = 0;

  /// The answer comes later, without a thread: deferred.hpp. Once, instead of start(); return Later{} afterwards. The
  /// failure is 503: too many answers are waited for, of all clients or of this share.
  virtual std::expected<std::shared_ptr<Deferred>, Failure> defer() = 0;
};

/// The failure for a body that ended early.
Failure to_failure(const http::BodyError& error);

}  // namespace stackgate::web
