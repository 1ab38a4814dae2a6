#include "services/kit/http/body_stream.hpp"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "services/kit/http/connection.hpp"

namespace stackgate::http {
namespace body_stream_detail {

constexpr std::chrono::milliseconds look_around{100};
constexpr std::size_t most_by_sendfile = 4 * 1024 * 1024;
constexpr std::size_t copied_at_once = 64 * 1024;

// sendfile(2) and OpenSSL raise SIGPIPE where send(2) can be told not to, and the thread is the handler's.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    const timespec now{};
    if (!was_pending_) (void)sigtimedwait(&pipe_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t pipe_{}, before_{};
  bool was_pending_ = false;
};

BodyError gone_error() { return {0, {"the client has closed the connection in the middle of its body"}}; }
BodyError ended_error() { return {0, {"the request has been answered: its body can be read no more"}}; }

}  // namespace body_stream_detail

Custody::Holder Custody::lend() {
  Holder was = Holder::loop;
  holder_.compare_exchange_strong(was, Holder::handler, std::memory_order_acq_rel);
  return was;
}

bool Custody::take_back() {
  Holder was = Holder::handler;
  return holder_.compare_exchange_strong(was, Holder::loop, std::memory_order_acq_rel);
}

bool Patience::poll_once(int fd, short events) {
  using namespace std::chrono;
  const auto slice = std::min<nanoseconds>(pause_ - waited_, body_stream_detail::look_around);
  pollfd entry{fd, events, 0};
  const auto before = steady_clock::now();
  const int ready = ::poll(&entry, 1, static_cast<int>(ceil<milliseconds>(slice).count()));
  waited_ += steady_clock::now() - before;
  return ready > 0;
}

void Patience::progressed(std::size_t bytes) {
  since_ += bytes;
  if (since_ < progress_) return;
  since_ = 0;
  waited_ = {};
}

RequestBody::RequestBody(std::weak_ptr<Connection> connection, const Patience& patience, const Head& head, bool empty)
    : connection_(std::move(connection)),
      length_(head.framing == Head::Framing::chunked ? std::nullopt : std::optional(head.content_length)),
      patience_(patience),
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
    if (!connection.borrow()) return std::unexpected(gone_error());
    if (asks_for_body_) {
      if (auto asked = ask_for_body(connection); !asked) return std::unexpected(asked.error());
    }
    Stream& stream = connection.stream();
    const std::span<char> room = space.first(std::min(space.size(), reader.wanted()));
    const Stream::Result result = receive_once(stream, room);
    switch (result.state) {
      case Stream::State::done: {
        connection.streamed_in(result.bytes);
        patience_.progressed(result.bytes);
        const auto part = passed_on(reader.take(room.first(result.bytes)));
        if (!part || *part > 0) return part;
        continue;
      }
      case Stream::State::closed:
      case Stream::State::failed:
        return std::unexpected(gone_error());
      case Stream::State::want_read:
      case Stream::State::want_write:
        break;
    }
    const short events = result.state == Stream::State::want_read ? POLLIN : POLLOUT;
    switch (patience_.wait(stream.fd(), events, [&] { return is_ended() || connection.is_cut(); })) {
      case Patience::Verdict::ready:
        break;
      case Patience::Verdict::too_slow:
        return std::unexpected(BodyError{408, {"the request's body did not arrive in time"}});
      case Patience::Verdict::stopped:
        return std::unexpected(connection.is_cut() ? gone_error() : body_stream_detail::ended_error());
    }
  }
  return 0;
}

// TLS: as many records as there are.
Stream::Result RequestBody::receive_once(Stream& stream, std::span<char> room) {
  if (!stream.is_tls()) return stream.read(room);
  const body_stream_detail::NoPipeSignal quiet;
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
  const body_stream_detail::NoPipeSignal quiet;
  const std::lock_guard lock(wire_);
  if (!asks_for_body_) return {};
  asks_for_body_ = false;
  const auto result = connection.stream().write(line);  // nothing else is under way: the socket has room
  if (result.state != Stream::State::done || result.bytes != line.size())
    return std::unexpected(body_stream_detail::gone_error());
  return {};
}

AnswerBody::AnswerBody(std::shared_ptr<Connection> connection, std::shared_ptr<RequestBody> request,
                       const Patience& patience, Shape&& shape)
    : connection_(std::move(connection)), request_(std::move(request)), patience_(patience), shape_(std::move(shape)) {}

AnswerBody::~AnswerBody() {
  if (finished_) return;
  connection_->conclude(head_sent_ || failed_ ? Connection::Outcome::broken : Connection::Outcome::unbegun);
}

std::expected<void, Error> AnswerBody::fail(std::string why) {
  failed_ = Error{std::move(why)};
  return std::unexpected(*failed_);
}

// Holds the bytes against what was announced.
std::expected<void, Error> AnswerBody::account(std::uint64_t bytes) {
  if (failed_) return std::unexpected(*failed_);
  if (finished_) return std::unexpected(Error{"the answer has been finished"});
  if (shape_.swallow || shape_.framing != Framing::length) return {};
  if (bytes > left_) return fail("more bytes than the answer has announced");
  left_ -= bytes;
  return {};
}

std::string AnswerBody::chunk_size(std::uint64_t bytes) const {
  return shape_.framing == Framing::chunked && bytes > 0 ? fmt::format("{:x}\r\n", bytes) : std::string();
}

std::expected<void, Error> AnswerBody::write(std::string_view bytes) {
  if (auto known = account(bytes.size()); !known) return known;
  if (shape_.swallow) bytes = {};
  const std::string size = chunk_size(bytes.size());
  return send({size, bytes, size.empty() ? "" : "\r\n"});
}

std::expected<void, Error> AnswerBody::send_file(int fd, std::uint64_t offset, std::uint64_t length) {
  if (auto known = account(length); !known) return known;
  if (shape_.swallow || length == 0) return send({});
  const std::string size = chunk_size(length);
  if (auto begun = send({size}, true); !begun) return begun;
  if (auto sent = copy_file(fd, offset, length); !sent) return sent;
  return size.empty() ? Done{} : send({"\r\n"});
}

std::expected<void, Error> AnswerBody::copy_file(int fd, std::uint64_t offset, std::uint64_t length) {
  using namespace body_stream_detail;
  if (!connection_->borrow()) return fail("the client is gone");
  Stream& stream = connection_->stream();
  bool by_kernel = !stream.is_tls();
  std::unique_ptr<char[]> copied;
  while (length > 0) {
    if (by_kernel) {
      Stream::Result result;
      int error = 0;
      {
        const NoPipeSignal quiet;
        result =
            stream.send_file(fd, offset, static_cast<std::size_t>(std::min<std::uint64_t>(length, most_by_sendfile)));
        error = errno;
      }
      if (result.state == Stream::State::want_write) {
        if (auto ready = wait(POLLOUT); !ready) return ready;
      } else if (result.state == Stream::State::failed && (error == EINVAL || error == ENOSYS)) {
        by_kernel = false;  // not a file that can be mapped
      } else if (result.state != Stream::State::done) {
        return fail(result.state == Stream::State::closed ? "the client is gone"
                                                          : fmt::format("cannot send the file: error {}", error));
      } else if (result.bytes == 0) {
        return fail("the file is shorter than the answer has announced");
      } else {
        connection_->streamed_out(result.bytes);
        patience_.progressed(result.bytes);
        offset += result.bytes;
        length -= result.bytes;
      }
      continue;
    }
    if (!copied) copied = std::make_unique_for_overwrite<char[]>(copied_at_once);
    const ssize_t n =
        ::pread(fd, copied.get(), static_cast<std::size_t>(std::min<std::uint64_t>(length, copied_at_once)),
                static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(fmt::format("cannot read the file: error {}", errno));
    if (n == 0) return fail("the file is shorter than the answer has announced");
    if (auto sent = send({std::string_view(copied.get(), static_cast<std::size_t>(n))}); !sent) return sent;
    offset += static_cast<std::uint64_t>(n);
    length -= static_cast<std::uint64_t>(n);
  }
  return {};
}

std::expected<void, Error> AnswerBody::finish() {
  if (failed_) return std::unexpected(*failed_);
  if (finished_) return {};
  if (!shape_.swallow && shape_.framing == Framing::length && left_ > 0)
    return fail("fewer bytes than the answer has announced");
  const bool ends_by_chunk = shape_.framing == Framing::chunked && !shape_.swallow;
  if (auto sent = send({ends_by_chunk ? "0\r\n\r\n" : ""}); !sent) return sent;
  finished_ = true;
  connection_->conclude(Connection::Outcome::finished);
  return {};
}

// The head goes before the first pieces.
std::expected<void, Error> AnswerBody::send(Pieces pieces, bool more) {
  if (failed_) return std::unexpected(*failed_);
  std::string head;
  if (!head_sent_) {
    head = connection_->head_of(shape_);
    std::rotate(pieces.begin(), pieces.end() - 1, pieces.end());
    pieces.front() = head;
    head_sent_ = true;
    if (request_) {
      const std::lock_guard lock(request_->wire());
      request_->answer_begins();
    }
  }
  if (std::ranges::all_of(pieces, &std::string_view::empty)) return {};
  if (!connection_->borrow()) return fail("the client is gone");
  return connection_->stream().is_tls() ? send_secure(pieces) : send_plain(pieces, more);
}

std::expected<void, Error> AnswerBody::send_plain(Pieces& pieces, bool more) {
  std::span<std::string_view> rest = pieces;
  for (;;) {
    while (!rest.empty() && rest.front().empty()) rest = rest.subspan(1);
    if (rest.empty()) return {};
    const auto result = connection_->stream().write_pieces(rest, more);
    if (result.state == Stream::State::want_write) {
      if (auto ready = wait(POLLOUT); !ready) return ready;
      continue;
    }
    if (result.state != Stream::State::done) return fail("the client is gone");
    connection_->streamed_out(result.bytes);
    patience_.progressed(result.bytes);
    for (std::size_t taken = result.bytes; taken > 0;) {
      const std::size_t n = std::min(taken, rest.front().size());
      rest.front().remove_prefix(n);
      if (rest.front().empty()) rest = rest.subspan(1);
      taken -= n;
    }
  }
}

// Small pieces share a record; a large one is not copied.
std::expected<void, Error> AnswerBody::send_secure(const Pieces& pieces) {
  std::string joined;
  std::string_view bytes;
  const auto flush = [&]() -> Done {
    Stream& stream = connection_->stream();
    while (!bytes.empty()) {
      Stream::Result result;
      {
        const body_stream_detail::NoPipeSignal quiet;
        std::unique_lock<std::mutex> lock;
        if (request_) lock = std::unique_lock(request_->wire());
        result = stream.write(bytes);
      }
      if (result.state == Stream::State::done) {
        connection_->streamed_out(result.bytes);
        patience_.progressed(result.bytes);
        bytes.remove_prefix(result.bytes);
      } else if (result.state == Stream::State::want_read || result.state == Stream::State::want_write) {
        if (auto ready = wait(result.state == Stream::State::want_read ? POLLIN : POLLOUT); !ready) return ready;
      } else {
        return fail("the client is gone");
      }
    }
    return {};
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const bool large = pieces[i].size() > body_stream_detail::copied_at_once / 2;
    if (!large) joined += pieces[i];
    if (!large && i + 1 < pieces.size()) continue;
    bytes = joined;
    if (auto sent = flush(); !sent) return sent;
    joined.clear();
    if (large) bytes = pieces[i];
    if (auto sent = flush(); !sent) return sent;
  }
  return {};
}

std::expected<void, Error> AnswerBody::wait(short events) {
  switch (patience_.wait(connection_->stream().fd(), events, [&] { return connection_->is_cut(); })) {
    case Patience::Verdict::ready:
      return {};
    case Patience::Verdict::too_slow:
      return fail("the client has not taken its answer in time");
    case Patience::Verdict::stopped:
      break;
  }
  return fail("the connection was closed");
}

bool AnswerBody::gone() const {
  if (finished_) return false;
  if (failed_ || !connection_->borrow()) return true;
  pollfd entry{connection_->stream().fd(), POLLRDHUP, 0};
  return ::poll(&entry, 1, 0) > 0;
}

bool AnswerBody::draining() const { return connection_->is_draining(); }

}  // namespace stackgate::http
