#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "services/kit/http/body_stream.hpp"
#include "services/kit/http/connection.hpp"
#include "services/kit/http/no_pipe_signal.hpp"

namespace stackgate::http {
namespace answer_body_detail {

constexpr std::size_t most_by_sendfile = 4 * 1024 * 1024;
constexpr std::size_t copied_at_once = 64 * 1024;

}  // namespace answer_body_detail

AnswerBody::AnswerBody(std::shared_ptr<Connection> connection, std::shared_ptr<RequestBody> request,
                       const ProgressTimeout& progress_timeout, Shape&& shape)
    : connection_(std::move(connection)),
      request_(std::move(request)),
      progress_timeout_(progress_timeout),
      shape_(std::move(shape)),
      left_(shape_.length) {}

AnswerBody::~AnswerBody() {
  if (finished_) return;
  connection_->conclude(head_sent_ || failed_ ? Connection::Outcome::broken : Connection::Outcome::unbegun);
}

std::expected<void, Error> AnswerBody::fail(std::string why) {
  failed_ = Error{std::move(why)};
  return std::unexpected(*failed_);
}

// The socket does not show which side ended it.
std::expected<void, Error> AnswerBody::fail_gone() {
  return fail(
      connection_->is_cut_by_us()
          ? "the server has ended before the answer was whole: what is in progress when its drain is over is cut"
          : "the client is gone");
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
  using namespace answer_body_detail;
  if (!connection_->borrow()) return fail_gone();
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
        if (result.state == Stream::State::closed) return fail_gone();
        return fail(fmt::format("cannot send the file: error {}", error));
      } else if (result.bytes == 0) {
        return fail("the file is shorter than the answer has announced");
      } else {
        went_out(result.bytes);
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
  if (!connection_->borrow()) return fail_gone();
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
    if (result.state != Stream::State::done) return fail_gone();
    went_out(result.bytes);
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
        const NoPipeSignal quiet;
        std::unique_lock<std::mutex> lock;
        if (request_) lock = std::unique_lock(request_->wire());
        result = stream.write(bytes);
      }
      if (result.state == Stream::State::done) {
        went_out(result.bytes);
        bytes.remove_prefix(result.bytes);
      } else if (result.state == Stream::State::want_read || result.state == Stream::State::want_write) {
        if (auto ready = wait(result.state == Stream::State::want_read ? POLLIN : POLLOUT); !ready) return ready;
      } else {
        return fail_gone();
      }
    }
    return {};
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const bool large = pieces[i].size() > answer_body_detail::copied_at_once / 2;
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

void AnswerBody::went_out(std::size_t bytes) {
  sent_ += bytes;
  connection_->streamed_out(bytes);
  progress_timeout_.progressed(bytes);
}

// What has arrived there: the kernel takes megabytes at once, so that writes alone come in leaps.
std::int64_t AnswerBody::taken() const {
  return static_cast<std::int64_t>(sent_) - static_cast<std::int64_t>(connection_->stream().unconfirmed());
}

std::expected<void, Error> AnswerBody::wait(short events) {
  for (;;) {
    if (progress_timeout_.is_whole()) taken_ = taken();
    switch (progress_timeout_.wait(connection_->stream().fd(), events, [&] { return connection_->is_cut(); })) {
      case ProgressTimeout::Verdict::ready:
        return {};
      case ProgressTimeout::Verdict::too_slow:
        if (taken() - taken_ < static_cast<std::int64_t>(progress_timeout_.progress()))
          return fail("the client has not taken its answer in time");
        progress_timeout_.renew();
        continue;
      case ProgressTimeout::Verdict::stopped:
        return fail_gone();
    }
  }
}

bool AnswerBody::gone() const {
  if (finished_) return false;
  if (failed_ || !connection_->borrow()) return true;
  pollfd entry{connection_->stream().fd(), POLLRDHUP, 0};
  return ::poll(&entry, 1, 0) > 0;
}

bool AnswerBody::draining() const { return connection_->is_draining(); }

}  // namespace stackgate::http
