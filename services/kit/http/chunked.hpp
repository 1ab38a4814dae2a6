// Decoder of the chunked transfer coding (RFC 9112, 7.1), in place: the chunks' bytes move together over the framing
// between them. Extensions and trailers are read and dropped. No I/O.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace stackgate::http {

class ChunkedDecoder {
 public:
  enum class State : std::uint8_t { more, done, malformed, too_large };
  struct Step {
    State state = State::more;
    std::size_t body = 0;      // decoded bytes at the front of `bytes`
    std::size_t consumed = 0;  // encoded bytes read
  };

  void reset(std::uint64_t body_limit) { *this = {}, limit_ = body_limit; }
  /// Decodes what `bytes` holds. The next call continues after the consumed bytes.
  Step decode(std::span<char> bytes);

 private:
  enum class Expect : std::uint8_t {
    size,
    extension,
    size_feed,
    data,
    data_return,
    data_feed,
    trailer,
    trailer_line,
    trailer_feed,
    end_feed
  };
  State control(char c);

  Expect expect_ = Expect::size;
  int digits_ = 0;
  std::uint32_t overhead_ = 0;  // bytes of the current size line, or of all trailers
  std::uint64_t left_ = 0;      // of the current chunk
  std::uint64_t total_ = 0;
  std::uint64_t limit_ = 0;
};

}  // namespace stackgate::http
