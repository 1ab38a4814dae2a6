// pkt-lines, the framing of Git's protocols (gitprotocol-common(5)). Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stackgate::datastore::git {

inline constexpr std::size_t pkt_most = 65520;  // bytes of a line, its four digits included
inline constexpr std::string_view pkt_flush = "0000", pkt_delimiter = "0001", pkt_response_end = "0002";

/// At most pkt_most - 4 bytes.
void append_pkt(std::string& out, std::string_view payload);

struct Pkt {
  enum class Kind : std::uint8_t {
    data,
    flush,
    delimiter,
    response_end,
    more,  // the line is not whole yet
    bad,   // no pkt-line: no hex digits, a length of 3, one beyond pkt_most
  };
  Kind kind = Kind::more;
  std::string_view payload{};  // into what next() was given
};

/// Takes one line off `bytes`; leaves them as they are for more and bad.
Pkt next_pkt(std::string_view& bytes);

/// Without the line feed that text lines may end with.
std::string_view chomp(std::string_view line);

}  // namespace stackgate::datastore::git
