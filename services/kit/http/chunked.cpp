#include "services/kit/http/chunked.hpp"

#include <algorithm>
#include <cstring>

#include "services/kit/http/text.hpp"

namespace stackgate::http {
namespace chunked_detail {

constexpr std::uint32_t max_size_line = 1024;
constexpr std::uint32_t max_trailers = 16 * 1024;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = to_lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace chunked_detail

// Takes one byte of framing.
ChunkedDecoder::State ChunkedDecoder::control(char c) {
  using chunked_detail::hex_value;
  switch (expect_) {
    case Expect::size:
      if (++overhead_ > chunked_detail::max_size_line) return State::malformed;
      if (const int digit = hex_value(c); digit >= 0) {
        if (++digits_ > 15) return State::too_large;
        left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
        return State::more;
      }
      if (digits_ == 0) return State::malformed;
      if (left_ > limit_ - total_) return State::too_large;
      if (c == '\r') {
        expect_ = Expect::size_feed;
      } else if (c == ';' || c == ' ' || c == '\t') {
        expect_ = Expect::extension;
      } else {
        return State::malformed;
      }
      return State::more;
    case Expect::extension:
      if (++overhead_ > chunked_detail::max_size_line) return State::malformed;
      if (c == '\r') {
        expect_ = Expect::size_feed;
      } else if (!is(Char::field, c)) {
        return State::malformed;
      }
      return State::more;
    case Expect::size_feed:
      if (c != '\n') return State::malformed;
      expect_ = left_ == 0 ? Expect::trailer : Expect::data;
      total_ += left_;
      digits_ = 0;
      overhead_ = 0;
      return State::more;
    case Expect::data:
      return State::malformed;  // decode() copies data itself
    case Expect::data_return:
      expect_ = Expect::data_feed;
      return c == '\r' ? State::more : State::malformed;
    case Expect::data_feed:
      expect_ = Expect::size;
      return c == '\n' ? State::more : State::malformed;
    case Expect::trailer:  // the first byte of a line
      if (c == '\r') {
        expect_ = Expect::end_feed;
        return State::more;
      }
      expect_ = Expect::trailer_line;
      [[fallthrough]];
    case Expect::trailer_line:
      if (++overhead_ > chunked_detail::max_trailers) return State::malformed;
      if (c == '\r') {
        expect_ = Expect::trailer_feed;
      } else if (!is(Char::field, c)) {
        return State::malformed;
      }
      return State::more;
    case Expect::trailer_feed:
      expect_ = Expect::trailer;
      return c == '\n' ? State::more : State::malformed;
    case Expect::end_feed:
      return c == '\n' ? State::done : State::malformed;
  }
  return State::malformed;
}

ChunkedDecoder::Step ChunkedDecoder::decode(std::span<char> bytes) {
  Step step;
  while (step.consumed < bytes.size()) {
    if (expect_ == Expect::data) {
      const std::size_t n = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size() - step.consumed));
      std::memmove(bytes.data() + step.body, bytes.data() + step.consumed, n);
      step.body += n;
      step.consumed += n;
      left_ -= n;
      if (left_ == 0) expect_ = Expect::data_return;
      continue;
    }
    step.state = control(bytes[step.consumed]);
    if (step.state != State::more && step.state != State::done) return step;
    ++step.consumed;
    if (step.state == State::done) return step;
  }
  return step;
}

}  // namespace stackgate::http
