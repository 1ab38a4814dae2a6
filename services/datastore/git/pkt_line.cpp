#include "services/datastore/git/pkt_line.hpp"

#include <array>

#include "services/kit/base/ascii.hpp"

namespace stackgate::datastore::git {

void append_pkt(std::string& out, std::string_view payload) {
  constexpr std::string_view digits = "0123456789abcdef";
  const std::size_t size = payload.size() + 4;
  const std::array<char, 4> head{digits[(size >> 12U) & 15U], digits[(size >> 8U) & 15U], digits[(size >> 4U) & 15U],
                                 digits[size & 15U]};
  out.append(head.data(), head.size());
  out.append(payload);
}

Pkt next_pkt(std::string_view& bytes) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    if (i == bytes.size()) return {Pkt::Kind::more};
    const int digit = ascii::hex_value(bytes[i]);
    if (digit < 0) return {Pkt::Kind::bad};
    size = size * 16 + static_cast<std::size_t>(digit);
  }
  if (size == 3 || size > pkt_most) return {Pkt::Kind::bad};
  Pkt out;
  if (size < 3) {
    out.kind = size == 0 ? Pkt::Kind::flush : size == 1 ? Pkt::Kind::delimiter : Pkt::Kind::response_end;
    bytes.remove_prefix(4);
    return out;
  }
  if (bytes.size() < size) return {Pkt::Kind::more};
  out = {Pkt::Kind::data, bytes.substr(4, size - 4)};
  bytes.remove_prefix(size);
  return out;
}

std::string_view chomp(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  return line;
}

}  // namespace stackgate::datastore::git
