#include "services/kit/http/reader.hpp"

#include <algorithm>
#include <cstring>

#include "services/kit/http/text.hpp"

namespace stackgate::http {
namespace reader_detail {
// Less room than this is not worth a read.
constexpr std::size_t min_space = 1024;
// Of a chunked body at once: as much may have to be kept for the next request.
constexpr std::size_t most_chunked = 256 * 1024;
}  // namespace reader_detail

std::span<char> RequestReader::space() {
  if (buffer_.capacity() == 0) buffer_ = pool_.take();
  std::size_t wanted = reader_detail::min_space;
  if (phase_ == Phase::body && head_.framing == Head::Framing::length) {
    wanted = std::min(wanted, head_size_ + static_cast<std::size_t>(head_.content_length) - end_);
  }
  if (buffer_.capacity() - end_ < wanted) {
    // Doubling, not the announced length: memory follows what has really been sent.
    std::size_t grown = std::max(buffer_.capacity() * 2, end_ + wanted);
    if (phase_ == Phase::body && head_.framing == Head::Framing::length) {
      grown = std::min(grown, std::max(end_ + wanted, head_size_ + static_cast<std::size_t>(head_.content_length)));
    }
    buffer_.grow(grown);
  }
  return {buffer_.data() + end_, buffer_.capacity() - end_};
}

RequestReader::Step RequestReader::step() {
  switch (phase_) {
    case Phase::idle:
    case Phase::head:
      return read_head();
    case Phase::planning:
      return begin_body();
    case Phase::body:
      return read_body();
    case Phase::streaming:
    case Phase::complete:
      return Step::request;
    case Phase::rejected:
      return Step::reject;
  }
  return Step::reject;
}

RequestReader::Step RequestReader::read_head() {
  if (end_ >= 2 && !skipped_empty_line_ && std::memcmp(buffer_.data(), "\r\n", 2) == 0) {  // RFC 9112, 2.2
    std::memmove(buffer_.data(), buffer_.data() + 2, end_ - 2);
    end_ -= 2;
    skipped_empty_line_ = true;
    scanner_.reset();
  }
  phase_ = end_ == 0 ? Phase::idle : Phase::head;
  if (end_ == 0) return Step::need_more;
  const std::string_view bytes(buffer_.data(), end_);
  if (!is(Char::token, bytes.front()) && bytes.front() != '\r') {
    return fail(400, bytes.front() == '\x16' ? "this port speaks plain HTTP, not TLS"
                                             : "the request does not begin with a method");
  }
  switch (scanner_.scan(bytes)) {
    case HeadScanner::Found::bare_line_feed:
      return fail(400, "a line of the head does not end in CR LF");
    case HeadScanner::Found::nothing:
      if (end_ < limits_.head_bytes) return Step::need_more;
      return scanner_.in_first_line() ? fail(414, "the request line is too long")
                                      : fail(431, "the request's head is too large");
    case HeadScanner::Found::end:
      break;
  }
  if (scanner_.size() > limits_.head_bytes) return fail(431, "the request's head is too large");
  head_size_ = scanner_.size();
  parsed_at_ = buffer_.data();
  if (const auto fault = parse_head(bytes.substr(0, head_size_), request_, head_))
    return fail(fault->status, fault->reason);
  has_head_ = true;
  if (asks_) {
    phase_ = Phase::planning;
    return Step::plan;
  }
  return begin_body();
}

RequestReader::Step RequestReader::begin_body() {
  if (head_.framing == Head::Framing::length && head_.content_length > body_limit_) {
    return fail(413, "the request's body is larger than this server takes");
  }
  decoded_ = 0;
  if (head_.framing == Head::Framing::chunked) chunked_.reset(body_limit_);
  const bool has_body =
      head_.framing == Head::Framing::chunked || (head_.framing == Head::Framing::length && head_.content_length > 0);
  if (streams_ && has_body) {
    phase_ = Phase::streaming;
    raw_ = head_size_;
    left_ = head_.content_length;
    request_.body = {};
    return Step::request;
  }
  phase_ = Phase::body;
  return head_.expects_continue && has_body && end_ == head_size_ ? Step::send_continue : read_body();
}

RequestReader::Step RequestReader::read_body() {
  switch (head_.framing) {
    case Head::Framing::none:
      next_ = head_size_;
      return complete(0);
    case Head::Framing::length: {
      const auto length = static_cast<std::size_t>(head_.content_length);
      if (end_ - head_size_ < length) return Step::need_more;
      next_ = head_size_ + length;
      return complete(length);
    }
    case Head::Framing::chunked:
      break;
  }
  const std::size_t raw = head_size_ + decoded_;
  const auto step = chunked_.decode({buffer_.data() + raw, end_ - raw});
  switch (step.state) {
    case ChunkedDecoder::State::malformed:
      return fail(400, "the chunked body is malformed");
    case ChunkedDecoder::State::too_large:
      return fail(413, "the request's body is larger than this server takes");
    case ChunkedDecoder::State::more:
      decoded_ += step.body;
      end_ = head_size_ + decoded_;  // everything was consumed; the framing's room is free again
      return Step::need_more;
    case ChunkedDecoder::State::done:
      break;
  }
  decoded_ += step.body;
  next_ = raw + step.consumed;
  return complete(decoded_);
}

RequestReader::Cut RequestReader::cut(std::span<char> raw) {
  using State = ChunkedDecoder::State;
  if (head_.framing == Head::Framing::chunked) {
    const auto step = chunked_.decode(raw);
    return {{step.state, step.body}, step.consumed};
  }
  const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(raw.size(), left_));
  left_ -= taken;
  return {{left_ == 0 ? State::done : State::more, taken}, taken};
}

RequestReader::Part RequestReader::take_buffered(std::span<char> space) {
  const std::size_t n = std::min(space.size(), end_ - raw_);
  std::memcpy(space.data(), buffer_.data() + raw_, n);
  const Cut cut_here = cut(space.first(n));
  raw_ += cut_here.consumed;
  if (cut_here.part.state == ChunkedDecoder::State::done) {
    next_ = raw_;
    phase_ = Phase::complete;
  }
  return cut_here.part;
}

std::size_t RequestReader::wanted() const {
  if (head_.framing == Head::Framing::chunked) return reader_detail::most_chunked;
  return static_cast<std::size_t>(left_);
}

RequestReader::Part RequestReader::take(std::span<char> received) {
  const Cut cut_here = cut(received);
  if (cut_here.part.state == ChunkedDecoder::State::done) {
    behind_.assign(received.data() + cut_here.consumed, received.size() - cut_here.consumed);
    next_ = end_;
    phase_ = Phase::complete;
  }
  return cut_here.part;
}

void RequestReader::skip_buffered() {
  if (phase_ != Phase::streaming) return;
  const Cut cut_here = cut({buffer_.data() + raw_, end_ - raw_});
  raw_ += cut_here.consumed;
  if (cut_here.part.state != ChunkedDecoder::State::done) return;
  next_ = raw_;
  phase_ = Phase::complete;
}

// The head's views, when the buffer has moved as it grew.
void RequestReader::follow_buffer() {
  if (buffer_.data() == parsed_at_) return;
  (void)parse_head({buffer_.data(), head_size_}, request_, head_);
  parsed_at_ = buffer_.data();
}

const Request* RequestReader::begun() {
  if (!has_head_) return nullptr;
  follow_buffer();
  return &request_;
}

RequestReader::Step RequestReader::complete(std::size_t body_bytes) {
  follow_buffer();
  request_.body = {buffer_.data() + head_size_, body_bytes};
  phase_ = Phase::complete;
  return Step::request;
}

RequestReader::Step RequestReader::fail(int status, std::string_view reason) {
  reject_ = {status, reason};
  phase_ = Phase::rejected;
  return Step::reject;
}

void RequestReader::finish() {
  std::size_t left = end_ - next_;
  if (!behind_.empty()) {
    left = behind_.size();
    if (buffer_.capacity() < left) buffer_.grow(left);
    std::memcpy(buffer_.data(), behind_.data(), left);
    std::string().swap(behind_);
  } else if (left > 0) {
    std::memmove(buffer_.data(), buffer_.data() + next_, left);
  } else if (buffer_.capacity() != BufferPool::block_bytes) {
    pool_.give(std::move(buffer_));
  }
  end_ = left;
  phase_ = left > 0 ? Phase::head : Phase::idle;
  skipped_empty_line_ = false;
  has_head_ = false;
  scanner_.reset();
  request_.headers.clear();
  request_.body = {};
  request_.stream.reset();
  streams_ = false;
  body_limit_ = limits_.body_bytes;
}

void RequestReader::release() {
  if (phase_ != Phase::idle || end_ > 0) return;
  pool_.give(std::move(buffer_));
  if (request_.headers.capacity() > 32) std::vector<Header>().swap(request_.headers);
}

}  // namespace stackgate::http
