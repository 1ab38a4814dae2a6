// HTTP requests and responses as plain values; nothing here knows about sockets.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/kit/http/body.hpp"

namespace stackgate::http {

struct Header {
  std::string_view name;  // as it was sent; compared without case
  std::string_view value;
};

/// Views stay valid until the response has been given.
struct Request {
  std::string_view method;
  std::string_view path;   // raw, without the query
  std::string_view query;  // without the '?'
  std::vector<Header> headers;
  std::string_view body;
  std::string_view peer;  // "10.0.0.7:41234"
  /// Set when the BodyPlan said `stream`, also for a request without a body; `body` is empty then. May be kept, but
  /// ends with the answer: read() fails from then on.
  std::shared_ptr<BodyReader> stream{};

  /// The first header of that name, or empty.
  std::string_view header(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};
};

/// text/plain with exactly this body.
Response text_answer(int status, std::string body);
/// A sentence with its status before it: "413 the request's body is …\n".
Response plain_answer(int status, std::string_view text);
/// 405 with the Allow header, e.g. "GET, HEAD".
Response not_allowed(std::string_view methods);

/// Completes one request, once, from any thread. Dropping it unanswered answers 500.
class Responder {
 public:
  struct Sink {
    virtual ~Sink() = default;
    virtual void send(Response&& response) = 0;
    virtual std::unique_ptr<BodyWriter> start(Response&& head, std::optional<std::uint64_t> length) = 0;
    virtual std::unique_ptr<AsyncBodyWriter> stream(Response&& head, std::optional<std::uint64_t> length) = 0;
    virtual void observe(std::shared_ptr<AnswerWatcher> watcher) = 0;
  };
  explicit Responder(std::shared_ptr<Sink> sink) : sink_(std::move(sink)) {}
  Responder(Responder&&) = default;
  Responder& operator=(Responder&& other) noexcept;
  ~Responder();
  void operator()(Response&& response);
  /// Answers with a body that follows (`head.body` is not looked at), from any thread; never null, and the Responder is
  /// done. Without `length` the body is chunked (HTTP/1.0: it ends with the connection). HEAD, 204 and 304: the head
  /// alone is sent and the writer swallows the rest. The head leaves with the first write(), also an empty one, so that
  /// both share a packet; a writer destroyed before that answers 500.
  std::unique_ptr<BodyWriter> start(Response&& head, std::optional<std::uint64_t> length);
  /// The same for a body that no thread waits for.
  std::unique_ptr<AsyncBodyWriter> stream(Response&& head, std::optional<std::uint64_t> length);
  /// Before the answer, once. From then on a client that closes its side has left, also before the answer begins; with
  /// a streamed request body only after that.
  void observe(std::shared_ptr<AnswerWatcher> watcher);

 private:
  std::shared_ptr<Sink> sink_;
};

}  // namespace stackgate::http
