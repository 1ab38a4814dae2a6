// Decoder of the chunked transfer coding (RFC 9112, 7.1), in place: the chunks' bytes move together over the framing
// between them. Extensions and trailers are checked and dropped. No I/O.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
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

  ChunkedDecoder();
  ~ChunkedDecoder();
  /// Before the first chunk of a body; call it first.
  void reset(std::uint64_t body_limit);
  /// Decodes what `bytes` holds. The next call continues after the consumed bytes.
  Step decode(std::span<char> bytes);

 private:
  struct Parser;  // Beast's
  State add_to_line(std::string_view piece);
  State check_size() const;

  std::unique_ptr<Parser> parser_;
  std::string line_;          // what has come of a size line, or of the last chunk with its trailers
  std::size_t trailers_ = 0;  // where they begin in it; 0: before them
};

}  // namespace stackgate::http
