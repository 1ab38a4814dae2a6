// Where something was found in a text.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::guardrail {

/// Bytes [begin, end) of the text, whole UTF-8 characters. `kind` is an index into the names of whoever found it.
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint16_t kind = 0;
  float score = 1;  // 0 to 1
  bool operator==(const Span&) const = default;
};

/// In order, none overlaps another.
using Spans = std::vector<Span>;

/// Texts of more bytes are not looked at; callers refuse them first (LengthLimits).
inline constexpr std::size_t longest_text = 64U << 20U;

/// How many bytes at the end of a text could still become part of a longer match, so that a stream keeps them back.
/// Texts that come to be longer than this without an end are judged in pieces.
inline constexpr std::size_t longest_open_tail = 2048;

/// `text` with each span replaced by `replacement(span)`, which gives a std::string_view or std::string.
template <class Replacement>
std::string replaced(std::string_view text, const Spans& spans, const Replacement& replacement) {
  std::string out;
  out.reserve(text.size());
  std::size_t at = 0;
  for (const Span& span : spans) {
    out.append(text.substr(at, span.begin - at));
    out.append(replacement(span));
    at = span.end;
  }
  return out.append(text.substr(at));
}

}  // namespace stackgate::guardrail
