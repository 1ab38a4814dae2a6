// FNV-1a, 64 bits: for marks that only have to differ when a text does, on every machine in the same way.
// Source: RFC 9923.
#pragma once
#include <cstdint>
#include <string_view>

namespace stackgate {

constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t from = 0xcbf29ce484222325U) {
  for (const char c : text) from = (from ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return from;
}

}  // namespace stackgate
