#include "services/datastore/smart_http/exchange.hpp"

#include <chrono>

#include "services/kit/log/log.hpp"
#include "services/kit/web/answer.hpp"

namespace stackgate::datastore::smart_http {
namespace {

constexpr std::chrono::seconds between_signs{5};
constexpr std::size_t body_piece = 128 * 1024;
constexpr std::size_t most_held = 32U << 20U;  // said before the body's end: acknowledgements, progress
constexpr std::uint64_t most_unread = 1ULL
                                      << 30U;  // read and dropped once git wants no more, so that its answer arrives

/// Begins the answer with git's first byte and stays one piece behind, so that the end waits for before_end.
class Answering {
 public:
  Answering(web::Call& call, const Exchange& how) : call_(call), how_(how) {}

  bool take(std::string_view piece) {
    if (!body_read_) {
      held_.append(piece);
      return held_.size() <= most_held;
    }
    if (!send()) return how_.outlives_client;
    if (how_.frame) {
      how_.frame(held_, piece);
    } else {
      held_.assign(piece);
    }
    return true;
  }
  /// The client gets something now and then, as from git's own upload-pack.
  void keep_alive() {
    if (!how_.frame || std::chrono::steady_clock::now() - sent_ < between_signs) return;
    how_.frame(held_, {});
    (void)send();
  }
  void close(bool well) {
    if (how_.close) how_.close(held_, well);
  }
  void body_is_read() { body_read_ = true; }
  bool client_gone() const { return failed_ || (writer_ && writer_->gone()); }
  bool begun() const { return writer_ != nullptr; }
  bool has_output() const { return !held_.empty(); }

  bool send() {
    if (held_.empty()) return true;
    if (!writer_) writer_ = call_.start(protocol_response(how_.content_type), std::nullopt);
    failed_ = failed_ || !writer_->write(held_);
    sent_ = std::chrono::steady_clock::now();
    held_.clear();
    return !failed_;
  }
  /// Small answers go out whole, with their length.
  web::Answer finish() {
    if (!writer_) {
      http::Response whole = protocol_response(how_.content_type);
      whole.body = std::move(held_);
      return whole;
    }
    if (send()) (void)writer_->finish();
    return web::Streamed{};
  }

 private:
  web::Call& call_;
  const Exchange& how_;
  std::string held_;
  std::unique_ptr<http::BodyWriter> writer_;
  std::chrono::steady_clock::time_point sent_ = std::chrono::steady_clock::now();
  bool body_read_ = false, failed_ = false;
};

/// The rest of the body into the child; a failure is the client's.
std::optional<web::Failure> pump(http::BodyReader& body, git::Child& child, Answering& answer) {
  const auto output = [&answer](std::string_view piece) { return answer.take(piece); };
  std::string piece(body_piece, '\0');
  bool wanted = true;
  for (std::uint64_t unread = 0;;) {
    const auto got = body.read(piece);
    if (!got) return web::to_failure(got.error());
    if (*got == 0) return std::nullopt;
    if (wanted) {
      const auto fed = child.feed({piece.data(), *got}, output);
      if (fed == git::Child::Fed::failed)
        return web::Failure{.status = 500, .message = "git stopped; the server's log may say why"};
      wanted = fed == git::Child::Fed::taken;
      continue;
    }
    unread += *got;
    if (unread > most_unread)
      return web::Failure{.status = 413, .message = "git refused what came, and there is far more of it"};
  }
}

web::Failure failure_of(const git::Child& child, int status) {
  log::warning("git failed", {{"status", status}, {"said", child.errors()}});
  if (git::is_out_of_space(child)) return web::to_failure({ServiceFault::full, "the server has no space left"});
  return web::to_failure({ServiceFault::broken, "git failed; the server's log says why"});
}

}  // namespace

http::Response protocol_response(std::string content_type) {
  http::Response out;
  out.content_type = std::move(content_type);
  out.headers = {{"Expires", "Fri, 01 Jan 1980 00:00:00 GMT"},
                 {"Pragma", "no-cache"},
                 {"Cache-Control", "no-cache, max-age=0, must-revalidate"}};
  return out;
}

web::Answer exchange(web::Call& call, git::Child& child, std::string_view prefix, bool at_end, const Exchange& how) {
  Answering answer(call, how);
  const auto output = [&answer](std::string_view piece) { return answer.take(piece); };
  if (child.feed(prefix, output) == git::Child::Fed::failed) return failure_of(child, child.wait());
  if (!at_end)
    if (auto failure = pump(call.stream(), child, answer)) return std::move(*failure);
  child.close_input();
  answer.body_is_read();
  const auto stop = [&] {
    answer.keep_alive();
    return !how.outlives_client && (answer.client_gone() || call.stopping());
  };
  const bool ended = child.drain(output, stop);
  if (!ended) {
    if (!answer.client_gone()) log::warning("a git process was stopped", {{"said", child.errors()}});
    if (!answer.begun())
      return web::Failure{.status = 503, .message = "git took too long, or the server stops: try again"};
    return web::Streamed{};  // unfinished: the client sees that it is cut
  }
  const int status = child.wait();
  if (how.before_end) how.before_end();
  if (status != 0) {
    // git tells its client what is wrong in the protocol; only when it said nothing is it ours to say.
    log::info("git ended with a fault", {{"status", status}, {"said", child.errors()}});
    if (!answer.begun() && !answer.has_output()) return failure_of(child, status);
    if (status >= 128 + 1 && !answer.has_output()) return web::Streamed{};
  }
  answer.close(status == 0);
  return answer.finish();
}

}  // namespace stackgate::datastore::smart_http
