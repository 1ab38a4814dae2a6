// JSON text (RFC 8259) to a Document. Strict: UTF-8 is checked, duplicate keys, trailing text, and anything the RFC
// does not allow is an error with its place.
#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "services/kit/json/document.hpp"

namespace stackgate::json {

struct ParseError {
  std::uint32_t offset = 0;  // bytes into the text
  std::string message;       // "duplicate key \"spec\"", "unterminated string", …
};

struct ParseLimits {
  std::uint32_t max_depth = 512;         // nested arrays and objects
  std::uint32_t max_bytes = 64U << 20U;  // of text
};

/// Parses into `document` (its arena is reset first) and returns its root. Strings without escapes are views into
/// `text`, which must outlive the document. On error the document is empty.
std::expected<Value, ParseError> parse(std::string_view text, Document& document, const ParseLimits& limits = {});

/// The same for one value of several in a row: reads the one at `begin`, leaves what follows it, and returns the offset
/// behind it. Offsets count from the beginning of `text`.
std::expected<std::uint32_t, ParseError> parse_one(std::string_view text, std::uint32_t begin, Document& document,
                                                   const ParseLimits& limits = {});

}  // namespace stackgate::json
