#include "services/kit/http/body_stream.hpp"

#include <algorithm>

#include <poll.h>

#include "services/kit/base/try.hpp"
#include "services/kit/http/connection.hpp"
#include "services/kit/http/no_pipe_signal.hpp"

namespace stackgate::http {
namespace body_stream_detail {

constexpr std::chrono::milliseconds look_around{100};

/// The socket does not show which side ended it.
BodyError gone_error(const Connection& connection) {
  if (connection.is_cut_by_us())
    return {503, {"the server has ended before the body was whole: what is in progress when its drain is over is cut"}};
  return {0, {"the client has closed the connection in the middle of its body"}};
}
BodyError ended_error() { return {0, {"the request has been answered: its body can be read no more"}}; }

}  // namespace body_stream_detail

SocketOwner::Holder SocketOwner::lend() {
  Holder was = Holder::loop;
  holder_.compare_exchange_strong(was, Holder::handler, std::memory_order_acq_rel);
  return was;
}

void SocketOwner::take_back() {
  Holder was = Holder::handler;
  holder_.compare_exchange_strong(was, Holder::loop, std::memory_order_acq_rel);
}

bool ProgressTimeout::poll_once(int fd, short events) {
  using namespace std::chrono;
  const auto slice = std::min<nanoseconds>(pause_ - waited_, body_stream_detail::look_around);
  pollfd entry{fd, events, 0};
  const auto before = steady_clock::now();
  const int ready = ::poll(&entry, 1, static_cast<int>(ceil<milliseconds>(slice).count()));
  waited_ += steady_clock::now() - before;
  return ready > 0;
}

void ProgressTimeout::progressed(std::size_t bytes) {
  since_ += bytes;
  if (since_ >= progress_) renew();
}

RequestBody::RequestBody(std::weak_ptr<Connection> connection, const ProgressTimeout& progress_timeout,
                         const Head& head, bool empty)
    : connection_(std::move(connection)),
      length_(head.framing == Head::Framing::chunked ? std::nullopt : std::optional(head.content_length)),
      progress_timeout_(progress_timeout),
      begun_(empty),
      asks_for_body_(head.expects_continue && !empty) {}

bool RequestBody::is_ended() {
  const std::lock_guard lock(mutex_);
  return ended_;
}

bool RequestBody::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  return !reading_;
}

std::expected<std::size_t, BodyError> RequestBody::read(std::span<char> space) {
  const auto connection = connection_.lock();
  {
    const std::lock_guard lock(mutex_);
    if (ended_ || !connection) return std::unexpected(body_stream_detail::ended_error());
    reading_ = true;
  }
  begun_.store(true, std::memory_order_relaxed);
  std::expected<std::size_t, BodyError> result{0};
  if (failed_) {
    result = std::unexpected(*failed_);
  } else if (!space.empty()) {
    result = receive(*connection, space);
    if (!result) failed_ = result.error();
  }
  const std::lock_guard lock(mutex_);
  reading_ = false;
  if (ended_) connection->reader_left();
  return result;
}

std::expected<std::size_t, BodyError> RequestBody::passed_on(const RequestReader::Part& part) {
  using State = ChunkedDecoder::State;
  if (part.state == State::malformed) return std::unexpected(BodyError{400, {"the chunked body is malformed"}});
  if (part.state == State::too_large)
    return std::unexpected(BodyError{413, {"the request's body is larger than this server takes"}});
  return part.body;
}

// 0 is the end.
std::expected<std::size_t, BodyError> RequestBody::receive(Connection& connection, std::span<char> space) {
  using body_stream_detail::gone_error;
  RequestReader& reader = connection.reader();
  while (reader.phase() == RequestReader::Phase::streaming) {
    if (reader.has_raw()) {
      const auto part = passed_on(reader.take_buffered(space));
      if (!part || *part > 0) return part;
      continue;
    }
    if (!connection.borrow()) return std::unexpected(gone_error(connection));
    if (asks_for_body_) {
      TRY(ask_for_body(connection));
    }
    Stream& stream = connection.stream();
    const std::span<char> room = space.first(std::min(space.size(), reader.wanted()));
    const Stream::Result result = receive_once(stream, room);
    switch (result.state) {
      case Stream::State::done: {
        connection.streamed_in(result.bytes);
        progress_timeout_.progressed(result.bytes);
        const auto part = passed_on(reader.take(room.first(result.bytes)));
        if (!part || *part > 0) return part;
        continue;
      }
      case Stream::State::closed:
      case Stream::State::failed:
        return std::unexpected(gone_error(connection));
      case Stream::State::want_read:
      case Stream::State::want_write:
        break;
    }
    const short events = result.state == Stream::State::want_read ? POLLIN : POLLOUT;
    switch (progress_timeout_.wait(stream.fd(), events, [&] { return is_ended() || connection.is_cut(); })) {
      case ProgressTimeout::Verdict::ready:
        break;
      case ProgressTimeout::Verdict::too_slow:
        return std::unexpected(BodyError{408, {"the request's body did not arrive in time"}});
      case ProgressTimeout::Verdict::stopped:
        return std::unexpected(connection.is_cut() ? gone_error(connection) : body_stream_detail::ended_error());
    }
  }
  return 0;
}

// TLS: as many records as there are.
Stream::Result RequestBody::receive_once(Stream& stream, std::span<char> room) {
  if (!stream.is_tls()) return stream.read(room);
  const NoPipeSignal quiet;
  const std::lock_guard lock(wire_);
  Stream::Result result = stream.read(room);
  while (result.state == Stream::State::done && result.bytes < room.size()) {
    const auto next = stream.read(room.subspan(result.bytes));
    if (next.state != Stream::State::done) break;  // a fault comes again
    result.bytes += next.bytes;
  }
  return result;
}

std::expected<void, BodyError> RequestBody::ask_for_body(Connection& connection) {
  static constexpr std::string_view line = "HTTP/1.1 100 Continue\r\n\r\n";
  const NoPipeSignal quiet;
  const std::lock_guard lock(wire_);
  if (!asks_for_body_) return {};
  asks_for_body_ = false;
  const auto result = connection.stream().write(line);  // nothing else is under way: the socket has room
  if (result.state != Stream::State::done || result.bytes != line.size())
    return std::unexpected(body_stream_detail::gone_error(connection));
  return {};
}

}  // namespace stackgate::http
