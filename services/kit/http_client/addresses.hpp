// Which addresses a URL from outside may lead to: those of the public Internet. Pure.
// Source: IANA's registries of special-purpose addresses (RFC 6890 and its successors).
#pragma once
#include <array>
#include <cstdint>

namespace stackgate::http_client {

using Address4 = std::array<std::uint8_t, 4>;  // network order
using Address6 = std::array<std::uint8_t, 16>;

/// Neither loopback, private, link-local (with the clouds' metadata service), shared, multicast, reserved nor for
/// documentation.
bool is_public(const Address4& address);
/// Likewise; an address that carries an IPv4 one (mapped, compatible, NAT64, 6to4) is judged by that as well.
bool is_public(const Address6& address);

}  // namespace stackgate::http_client
