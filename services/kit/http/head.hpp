// The head of an HTTP/1.x request (RFC 9112) as values. No I/O, no memory of its own but the header list.
// Strict where leniency has been used to smuggle requests: CRLF only, no folding, no space before the colon, one Host,
// one Content-Length, Transfer-Encoding exactly "chunked" and never beside Content-Length.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "services/kit/http/message.hpp"

namespace stackgate::http {

/// Why a request is answered without asking the handler; the connection is closed after it.
struct Reject {
  int status = 400;
  std::string_view reason;  // a string constant
};

/// Finds the end of a head that arrives in pieces, looking at each byte once.
class HeadScanner {
 public:
  enum class Found : std::uint8_t { nothing, end, bare_line_feed };
  /// `bytes`: everything received since reset(), head first.
  Found scan(std::string_view bytes);
  /// After `end`: the head's size with its empty line.
  std::size_t size() const { return at_; }
  bool in_first_line() const { return line_ == 0; }
  void reset() { *this = {}; }

 private:
  std::size_t at_ = 0;    // scanned so far
  std::size_t line_ = 0;  // where the current line begins
};

struct Head {
  enum class Framing : std::uint8_t { none, length, chunked };
  Framing framing = Framing::none;
  std::uint64_t content_length = 0;
  bool http10 = false;
  bool keep_alive = true;
  bool expects_continue = false;
};

inline constexpr std::size_t max_headers = 256;

/// `bytes`: one complete head with its empty line. Fills method, path, query and headers of `request` (views into
/// `bytes`) and `head`; on a Reject both are unspecified.
std::optional<Reject> parse_head(std::string_view bytes, Request& request, Head& head);

}  // namespace stackgate::http
