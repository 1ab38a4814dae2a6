// Texts made of pieces that detectors care for, put together at random, and what must hold of any text.
#pragma once
#include <algorithm>
#include <random>
#include <string>
#include <string_view>

#include "services/guardrail/detect/sensitive_data.hpp"

namespace stackgate::guardrail::test {

inline std::string random_text(std::mt19937& random, std::size_t pieces) {
  static constexpr std::string_view parts[] = {" ",
                                               " ",
                                               " ",
                                               " ",
                                               ", ",
                                               ". ",
                                               "\n",
                                               "-",
                                               "/",
                                               ":",
                                               "::",
                                               "@",
                                               ".",
                                               "(",
                                               ") ",
                                               "+",
                                               "é",
                                               "你",
                                               "😀",
                                               "a",
                                               "the ",
                                               "of ",
                                               "call ",
                                               "card ",
                                               "ssn ",
                                               "name is ",
                                               "4111 1111 1111 1111",
                                               "4111",
                                               "1111",
                                               "1",
                                               "0",
                                               "12",
                                               "2024",
                                               "536-22-1234",
                                               "212",
                                               "555-0100",
                                               "+49 30 901820",
                                               "192.168.0.1",
                                               "2001:db8::1",
                                               "fe80",
                                               "GB29 NWBK 6016 1331 9268 19",
                                               "GB29",
                                               "john@example.com",
                                               "example.com",
                                               "https://",
                                               "http://example.com/x",
                                               "www.",
                                               "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
                                               "John ",
                                               "Smith",
                                               "Dr. ",
                                               "O'Brien",
                                               "New York",
                                               "New ",
                                               "Rio de ",
                                               "de ",
                                               "Janeiro",
                                               "March ",
                                               "12th ",
                                               "May",
                                               "10:30",
                                               " pm",
                                               "221B ",
                                               "Baker ",
                                               "Street",
                                               "AB1234563",
                                               "H1234567",
                                               "943 476 5919",
                                               "X",
                                               "Y Z",
                                               "_",
                                               "%",
                                               "\t",
                                               "inc123456"};
  std::string out;
  for (std::size_t i = 0; i < pieces; ++i) out += parts[random() % std::size(parts)];
  return out;
}

/// Why the spans of a text are not what they must be, or nothing.
inline std::string fault_of(std::string_view text, const Spans& spans) {
  const auto inside = [&](std::size_t at) { return at < text.size() && (text[at] & '\xC0') == '\x80'; };
  std::size_t end = 0;
  for (const Span& span : spans) {
    if (span.begin < end) return "spans overlap";
    if (span.begin >= span.end || span.end > text.size()) return "a span is empty or beyond the end";
    if (inside(span.begin) || inside(span.end)) return "a span cuts a character";
    if (!(span.score >= 0 && span.score <= 1)) return "a score is none";
    end = span.end;
  }
  return {};
}

/// What open_tail() promises: spans before the tail of the first `cut` bytes are those of the whole text.
template <class Detector>
std::string tail_fault(const Detector& detector, std::string_view text, const Spans& whole, std::size_t cut) {
  const std::string_view first = text.substr(0, cut);
  const std::size_t tail = detector.open_tail(first);
  if (tail > first.size()) return "the tail is longer than the text";
  const std::size_t closed = first.size() - tail;
  if (closed < text.size() && (text[closed] & '\xC0') == '\x80') return "the tail cuts a character";
  const auto before = [&](Spans spans) {
    std::erase_if(spans, [&](const Span& span) { return span.begin >= closed; });
    return spans;
  };
  const Spans early = before(detector.find(first)), late = before(whole);
  if (early != late) return "what stands before the tail depends on what follows";
  return {};
}

}  // namespace stackgate::guardrail::test
