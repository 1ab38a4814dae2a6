#include "services/kit/schema/duplicates.hpp"

#include <bit>
#include <random>

namespace stackgate::validate::schema {
namespace {

__extension__ using Product = unsigned __int128;

std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const Product product = static_cast<Product>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

std::uint64_t hash_text(std::string_view text, std::uint64_t seed) {
  std::uint64_t hash = seed ^ (text.size() * 0xA0761D6478BD642FULL);
  while (text.size() > 8) {
    std::uint64_t part = 0;
    std::memcpy(&part, text.data(), 8);
    hash = fold(hash ^ part, 0xE7037ED1A0B428DBULL ^ seed);
    text.remove_prefix(8);
  }
  std::uint64_t part = 0;
  std::memcpy(&part, text.data(), text.size());
  return fold(hash ^ part, 0x8EBC6AF09C88C6E3ULL ^ seed);
}

}  // namespace

std::uint64_t hash_seed() {
  static const std::uint64_t seed = [] {
    std::random_device device;
    return (static_cast<std::uint64_t>(device()) << 32U | device()) | 1U;
  }();
  return seed;
}

std::uint64_t hash_value(const json::Value& value, std::uint64_t seed) {
  using json::Type;
  switch (value.type()) {
    case Type::null:
      return seed * 3;
    case Type::boolean:
      return value.boolean() ? seed * 5 : seed * 7;
    case Type::integer:
    case Type::number: {
      const double number = value.number();  // 1 equals 1.0
      return fold(std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number) ^ seed, 0x589965CC75374CC3ULL);
    }
    case Type::string:
      return hash_text(value.string(), seed);
    case Type::array: {
      std::uint64_t hash = seed * 11;
      for (const json::Value& each : value.items()) hash = fold(hash ^ hash_value(each, seed), 0x1D8E4E27C47D124FULL);
      return hash;
    }
    case Type::object: {
      std::uint64_t hash = seed * 13;  // members in any order
      for (const json::Member& each : value.members())
        hash += fold(hash_text(each.key, seed), hash_value(each.value, seed) | 1U);
      return hash;
    }
  }
  return seed;
}

}  // namespace stackgate::validate::schema
