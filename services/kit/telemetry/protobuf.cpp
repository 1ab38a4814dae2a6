#include "services/kit/telemetry/protobuf.hpp"

#include <array>
#include <bit>

#include "services/kit/base/utf8.hpp"

namespace stackgate::telemetry {
namespace protobuf_detail {

enum WireType : unsigned { varint = 0, eight_bytes = 1, counted = 2, four_bytes = 5 };

unsigned nibble(char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10) & 15U; }

struct Varint {
  std::array<char, 10> bytes{};
  std::size_t size = 0;
  explicit Varint(std::uint64_t value) {
    while (value >= 0x80) {
      bytes[size++] = static_cast<char>(static_cast<unsigned char>(value | 0x80U));
      value >>= 7U;
    }
    bytes[size++] = static_cast<char>(static_cast<unsigned char>(value));
  }
};

std::optional<std::uint64_t> take_varint(std::string_view& rest) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < rest.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(rest[i]);
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << (7 * i);
    if ((byte & 0x80U) == 0) {
      rest.remove_prefix(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> take_fixed(std::string_view& rest, std::size_t size) {
  if (rest.size() < size) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest[i])) << (8 * i);
  rest.remove_prefix(size);
  return value;
}

}  // namespace protobuf_detail

void ProtobufEncoder::varint(std::uint64_t value) {
  const protobuf_detail::Varint bytes(value);
  out_.append(bytes.bytes.data(), bytes.size);
}

void ProtobufEncoder::key(unsigned field, unsigned wire_type) { varint(field << 3U | wire_type); }

void ProtobufEncoder::bits64(std::uint64_t value) {
  for (unsigned i = 0; i < 8; ++i) out_ += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
}

std::size_t ProtobufEncoder::begin(unsigned field) {
  key(field, protobuf_detail::counted);
  return out_.size();
}

// The length stands before the body and is as long as it must be, so it is put in afterwards.
void ProtobufEncoder::end(std::size_t at) {
  const protobuf_detail::Varint length(out_.size() - at);
  out_.insert(at, length.bytes.data(), length.size);
}

void ProtobufEncoder::text(unsigned field, std::string_view, std::string_view value) {
  const std::size_t at = begin(field);
  while (!value.empty()) {
    std::size_t good = 0;
    while (good < value.size()) {
      const std::size_t length = utf8::sequence_length(value.substr(good));
      if (length == 0) break;
      good += length;
    }
    out_ += value.substr(0, good);
    value.remove_prefix(good);
    if (value.empty()) break;
    out_ += "\xEF\xBF\xBD";
    value.remove_prefix(1);
  }
  end(at);
}

void ProtobufEncoder::id(unsigned field, std::string_view, std::string_view hex) {
  key(field, protobuf_detail::counted);
  varint(hex.size() / 2);
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out_ += static_cast<char>(
        static_cast<unsigned char>(protobuf_detail::nibble(hex[i]) << 4U | protobuf_detail::nibble(hex[i + 1])));
}

void ProtobufEncoder::fixed64(unsigned field, std::string_view, std::uint64_t value) {
  key(field, protobuf_detail::eight_bytes);
  bits64(value);
}

void ProtobufEncoder::fixed32(unsigned field, std::string_view, std::uint32_t value) {
  key(field, protobuf_detail::four_bytes);
  for (unsigned i = 0; i < 4; ++i) out_ += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
}

void ProtobufEncoder::int64(unsigned field, std::string_view, std::int64_t value) {
  key(field, protobuf_detail::varint);
  varint(static_cast<std::uint64_t>(value));
}

void ProtobufEncoder::word(unsigned field, std::string_view, std::uint32_t value) {
  key(field, protobuf_detail::varint);
  varint(value);
}

void ProtobufEncoder::flag(unsigned field, std::string_view, bool value) {
  key(field, protobuf_detail::varint);
  varint(value ? 1 : 0);
}

void ProtobufEncoder::number(unsigned field, std::string_view, double value) {
  key(field, protobuf_detail::eight_bytes);
  bits64(std::bit_cast<std::uint64_t>(value));
}

void ProtobufEncoder::counts(unsigned field, std::string_view, std::span<const std::uint64_t> values) {
  const std::size_t at = begin(field);
  for (const std::uint64_t value : values) bits64(value);
  end(at);
}

void ProtobufEncoder::numbers(unsigned field, std::string_view, std::span<const double> values) {
  const std::size_t at = begin(field);
  for (const double value : values) bits64(std::bit_cast<std::uint64_t>(value));
  end(at);
}

std::optional<ProtobufField> next_field(std::string_view& rest) {
  std::string_view left = rest;
  const auto head = protobuf_detail::take_varint(left);
  if (!head || *head >> 3U == 0 || *head >> 3U > 0x1FFFFFFF) return std::nullopt;
  ProtobufField field{.number = static_cast<unsigned>(*head >> 3U)};
  std::optional<std::uint64_t> value;
  switch (*head & 7U) {
    case protobuf_detail::varint:
    case protobuf_detail::counted:
      value = protobuf_detail::take_varint(left);
      break;
    case protobuf_detail::eight_bytes:
      value = protobuf_detail::take_fixed(left, 8);
      break;
    case protobuf_detail::four_bytes:
      value = protobuf_detail::take_fixed(left, 4);
      break;
    default:
      break;
  }
  if (!value) return std::nullopt;
  if ((*head & 7U) == protobuf_detail::counted) {
    if (*value > left.size()) return std::nullopt;
    field.bytes = left.substr(0, *value);
    left.remove_prefix(*value);
  } else {
    field.value = *value;
  }
  rest = left;
  return field;
}

}  // namespace stackgate::telemetry
