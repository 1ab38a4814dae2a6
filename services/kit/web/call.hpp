// One request being served, from the I/O thread to a pool thread if need be, answered once. Lives as long as the
// handler runs, or its Deferred; belongs to that thread.
#pragma once
#include <array>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/base/current_trace.hpp"
#include "services/kit/http/body.hpp"
#include "services/kit/http/message.hpp"
#include "services/kit/json/document.hpp"
#include "services/kit/web/answer.hpp"
#include "services/kit/web/query.hpp"
#include "services/kit/web/request_record.hpp"
#include "services/kit/web/router.hpp"
#include "services/kit/web/trace_context.hpp"

namespace stackgate::web {

class Deferred;
struct AppState;

class Call : public std::enable_shared_from_this<Call> {
 public:
  /// Made by the App. `request` lives until the responder has been called.
  Call(AppState& state, const http::Request& request, http::Responder responder, Match match);

  const http::Request& request() const { return *record_.request; }
  /// A parameter of the route's pattern, percent-decoded after matching ("feature%2Fx" was one segment). Empty for a
  /// name that the pattern does not have.
  std::string_view parameter(std::string_view name) const;
  /// The query's pairs, decoded, in order.
  const Query& query() const;
  /// The client's X-Request-Id if it is sane, else one of ours; stands in the answer, the log and the trace.
  std::string_view request_id() const { return record_.request_id; }
  /// "https://host[:port]" as the client sees this server: --public-url, else X-Forwarded-Proto/Host from a trusted
  /// proxy, else Host.
  std::string base_url() const;
  /// Who is asking, for the access log; set by the handler once it knows.
  void set_actor(std::string_view name) { record_.actor = name; }
  /// Where this request stands in its trace.
  const TraceContext& trace() const { return record_.trace; }
  /// The process is draining: long polls and event streams should end soon.
  bool stopping() const;

  /// Buffered routes: the whole body, inflated if it came with Content-Encoding: gzip. The failure is 400, 413 or 415.
  std::expected<std::string_view, Failure> body();
  /// The same as JSON: 400 with line and column when it is none, 415 when the content type is another.
  std::expected<const json::Document*, Failure> json();
  /// The memory of that document, once the handler has what it wants of it: for answers that stream for minutes.
  void forget_json() { document_.reset(); }
  /// Streamed routes: the body as it arrives, inflated likewise (with a limit on the ratio).
  http::BodyReader& stream();

  /// Begins an answer whose body follows, once; `length` unknown means chunked. Return Streamed{} afterwards. HEAD: the
  /// head is sent and the writer swallows everything. The request's views end with the writer's finish(). A writer that
  /// is destroyed without it cuts the connection; before its first write nothing was sent, so the handler's Failure
  /// is the answer, and gone() and draining() do not know yet.
  std::unique_ptr<http::BodyWriter> start(http::Response head, std::optional<std::uint64_t> length);

  /// The answer comes later, without a thread: deferred.hpp. Once, instead of start(); return Later{} afterwards. The
  /// failure is 503: too many answers are waited for, of all clients or of this share.
  std::expected<std::shared_ptr<Deferred>, Failure> defer();

 private:
  friend class App;
  friend class Deferred;

  /// Runs the route's handler, or answers that there is none. Never throws.
  void serve() noexcept;
  /// Answers instead of the handler.
  void refuse(Failure failure);
  /// Whose share it takes part in.
  const std::string& share();
  /// Where the route wants it to work. Nothing: it has been answered.
  std::optional<Placement> place() noexcept;
  /// Rendered, complete with headers, and recorded: to be sent at once.
  http::Response finished(Answer&& answer);
  void recorded(const Outcome& outcome);

  CurrentTrace current() const;
  template <class Work>
  void guarded(const Work& work) noexcept;
  std::optional<Failure> decode_parameters();
  Answer answer_of_route();
  void finish(Answer answer);
  std::expected<bool, Failure> is_gzipped() const;
  std::expected<std::string, Failure> read_stream();

  AppState& state_;
  http::Responder responder_;
  Match match_;
  RequestRecord record_;
  const std::string_view body_;              // as it came
  bool answered_ = false, gave_up_ = false;  // gave_up_: began an answer and dropped it before its first byte
  bool decoded_parameters_ = false, is_deferred_ = false;
  std::vector<std::string> decoded_{};  // of the parameters with escapes
  std::array<std::string_view, max_parameters> values_{};
  mutable std::optional<Query> query_{};
  std::optional<std::string> inflated_{};
  std::optional<json::Document> document_{};
  std::unique_ptr<http::BodyReader> raw_{}, reader_{};
  std::shared_ptr<KeptRequest> kept_{};
  std::string share_{};                   // empty: not asked for yet
  std::shared_ptr<Deferred> deferred_{};  // while the handler runs
};

/// The failure for a body that ended early.
Failure to_failure(const http::BodyError& error);

}  // namespace stackgate::web
