#include "services/kit/http_client/addresses.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace stackgate::http_client {
namespace addresses_detail {

template <class Address>
struct Block {
  Address from;
  unsigned bits;
};

constexpr std::array<Block<Address4>, 15> not_public4 = {{
    {{0, 0, 0, 0}, 8},        // this network
    {{10, 0, 0, 0}, 8},       // private
    {{100, 64, 0, 0}, 10},    // shared by carriers; pods in some clusters
    {{127, 0, 0, 0}, 8},      // loopback
    {{169, 254, 0, 0}, 16},   // link-local: metadata services
    {{172, 16, 0, 0}, 12},    // private
    {{192, 0, 0, 0}, 24},     // protocol assignments
    {{192, 0, 2, 0}, 24},     // documentation
    {{192, 88, 99, 0}, 24},   // 6to4 relays, withdrawn
    {{192, 168, 0, 0}, 16},   // private
    {{198, 18, 0, 0}, 15},    // benchmarks
    {{198, 51, 100, 0}, 24},  // documentation
    {{203, 0, 113, 0}, 24},   // documentation
    {{224, 0, 0, 0}, 4},      // multicast
    {{240, 0, 0, 0}, 4},      // reserved, broadcast
}};

constexpr std::array<Block<Address6>, 9> not_public6 = {{
    {{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48},  // local NAT64
    {{0x01, 0x00}, 64},                          // discard
    {{0x20, 0x01, 0x00, 0x00}, 23},              // protocol assignments, Teredo
    {{0x20, 0x01, 0x0d, 0xb8}, 32},              // documentation
    {{0x3f, 0xff, 0x00}, 20},                    // documentation
    {{0xfc}, 7},                                 // unique local
    {{0xfe, 0x80}, 10},                          // link-local
    {{0xfe, 0xc0}, 10},                          // site-local, withdrawn
    {{0xff}, 8},                                 // multicast
}};

bool starts_with(std::span<const std::uint8_t> address, std::span<const std::uint8_t> from, unsigned bits) {
  const std::size_t whole = bits / 8;
  if (!std::equal(address.begin(), address.begin() + static_cast<std::ptrdiff_t>(whole), from.begin())) return false;
  const unsigned rest = bits % 8;
  return rest == 0 || (address[whole] >> (8 - rest)) == (from[whole] >> (8 - rest));
}

template <class Address, std::size_t N>
bool in_none(const Address& address, const std::array<Block<Address>, N>& blocks) {
  return std::ranges::none_of(blocks, [&](const auto& b) { return starts_with(address, b.from, b.bits); });
}

Address4 part(const Address6& address, std::size_t at) {
  return {address[at], address[at + 1], address[at + 2], address[at + 3]};
}

}  // namespace addresses_detail

bool is_public(const Address4& address) { return addresses_detail::in_none(address, addresses_detail::not_public4); }

bool is_public(const Address6& address) {
  using namespace addresses_detail;
  constexpr Address6 compatible{};
  constexpr Address6 mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  constexpr Address6 nat64{0x00, 0x64, 0xff, 0x9b};
  constexpr Address6 six_to_four{0x20, 0x02};
  for (const Address6& prefix : {compatible, mapped, nat64})
    if (starts_with(address, prefix, 96)) return is_public(part(address, 12));
  if (starts_with(address, six_to_four, 16)) return is_public(part(address, 2));
  return in_none(address, not_public6);
}

}  // namespace stackgate::http_client
