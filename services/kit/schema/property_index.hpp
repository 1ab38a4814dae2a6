// The hash table over an object's properties: one multiplication and, nearly always, one comparison per lookup.
#pragma once
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace stackgate::validate::schema {

/// Of the first and last bytes and the length: property names differ there.
inline std::uint64_t property_hash(std::string_view key) {
  std::uint64_t head = 0;
  std::uint64_t tail = 0;
  const std::size_t size = key.size();
  if (size >= 8) {
    std::memcpy(&head, key.data(), 8);
    std::memcpy(&tail, key.data() + size - 8, 8);
  } else if (size >= 4) {
    std::uint32_t part = 0;
    std::memcpy(&part, key.data(), 4);
    head = part;
    std::memcpy(&part, key.data() + size - 4, 4);
    tail = part;
  } else if (size > 0) {
    head = static_cast<unsigned char>(key[0]);
    tail = static_cast<std::uint64_t>(static_cast<unsigned char>(key[size / 2])) << 8U |
           static_cast<unsigned char>(key[size - 1]);
  }
  std::uint64_t hash = (head ^ (tail * 0x9E3779B97F4A7C15ULL) ^ size) * 0xBF58476D1CE4E5B9ULL;
  return hash ^ hash >> 32U;
}

}  // namespace stackgate::validate::schema
