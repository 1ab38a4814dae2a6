// Protocol Buffers' wire format (https://protobuf.dev/programming-guides/encoding/), as much of it as OTLP needs: a
// writer with the same members as JsonEncoder, and a reader of flat messages. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stackgate::telemetry {

/// Appends fields to `out`. Values at their default are left out by whoever calls, where that matters.
class ProtobufEncoder {
 public:
  explicit ProtobufEncoder(std::string& out) : out_(out) {}

  /// Bytes that are not UTF-8 become U+FFFD: a receiver refuses a whole batch for one of them.
  void text(unsigned field, std::string_view name, std::string_view value);
  /// Hex digits, sent as bytes.
  void id(unsigned field, std::string_view name, std::string_view hex);
  void fixed64(unsigned field, std::string_view name, std::uint64_t value);
  void fixed32(unsigned field, std::string_view name, std::uint32_t value);
  void int64(unsigned field, std::string_view name, std::int64_t value);
  void word(unsigned field, std::string_view name, std::uint32_t value);  // enums, small numbers
  void flag(unsigned field, std::string_view name, bool value);
  void number(unsigned field, std::string_view name, double value);
  void counts(unsigned field, std::string_view name, std::span<const std::uint64_t> values);
  void numbers(unsigned field, std::string_view name, std::span<const double> values);

  template <class Body>
  void message(unsigned field, std::string_view, Body&& body) {
    const std::size_t at = begin(field);
    body();
    end(at);
  }
  template <class Items, class Each>
  void list(unsigned field, std::string_view name, const Items& items, Each&& each) {
    for (const auto& item : items) message(field, name, [&] { each(item); });
  }

 private:
  std::size_t begin(unsigned field);
  void end(std::size_t at);
  void varint(std::uint64_t value);
  void key(unsigned field, unsigned wire_type);
  void bits64(std::uint64_t value);
  std::string& out_;
};

/// One field of a message. `bytes` of a varint or fixed one is empty.
struct ProtobufField {
  unsigned number = 0;
  std::uint64_t value = 0;
  std::string_view bytes{};
};

/// Takes the next field off `rest`; nothing at the end, and at anything malformed (`rest` is then not empty).
std::optional<ProtobufField> next_field(std::string_view& rest);

}  // namespace stackgate::telemetry
