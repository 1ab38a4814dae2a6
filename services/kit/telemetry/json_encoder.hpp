// OTLP's JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): ids in hex, 64-bit numbers as text,
// enums as numbers, names in lowerCamelCase. The same members as ProtobufEncoder, so that one description writes both.
// Pure.
#pragma once
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "services/kit/json/write.hpp"

namespace stackgate::telemetry {

class JsonEncoder {
 public:
  explicit JsonEncoder(std::string& out) : writer_(out) {}

  void text(unsigned, std::string_view name, std::string_view value) { writer_.member(name, value); }
  void id(unsigned, std::string_view name, std::string_view hex) { writer_.member(name, hex); }
  void fixed64(unsigned, std::string_view name, std::uint64_t value) {
    writer_.member(name, std::string_view(fmt::to_string(value)));
  }
  void fixed32(unsigned, std::string_view name, std::uint32_t value) { writer_.member(name, value); }
  void int64(unsigned, std::string_view name, std::int64_t value) {
    writer_.member(name, std::string_view(fmt::to_string(value)));
  }
  void word(unsigned, std::string_view name, std::uint32_t value) { writer_.member(name, value); }
  void flag(unsigned, std::string_view name, bool value) { writer_.member(name, value); }
  void number(unsigned, std::string_view name, double value) {
    writer_.key(name);
    put(value);
  }
  void counts(unsigned, std::string_view name, std::span<const std::uint64_t> values) {
    writer_.array(name, [&] {
      for (const std::uint64_t value : values) writer_.value(std::string_view(fmt::to_string(value)));
    });
  }
  void numbers(unsigned, std::string_view name, std::span<const double> values) {
    writer_.array(name, [&] {
      for (const double value : values) put(value);
    });
  }
  /// The outermost braces, which protobuf does not have.
  template <class Body>
  void whole(Body&& body) {
    writer_.object(body);
  }
  template <class Body>
  void message(unsigned, std::string_view name, Body&& body) {
    writer_.object(name, body);
  }
  template <class Items, class Each>
  void list(unsigned, std::string_view name, const Items& items, Each&& each) {
    writer_.array(name, [&] {
      for (const auto& item : items) writer_.object([&] { each(item); });
    });
  }

 private:
  void put(double value) {
    if (std::isfinite(value)) {
      writer_.value(value);
    } else {
      writer_.value(std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
    }
  }
  json::Writer writer_;
};

}  // namespace stackgate::telemetry
