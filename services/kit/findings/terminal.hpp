// A finding as a good compiler shows it on a terminal, or in a build's log:
//
//   guardrail.yaml:11:14: error: spec.nimEndpoint.baseURL: the base URL must end in /v1 [guardrail-base-url]
//      11 |     baseURL: http://llm:8000/v1/chat/completions
//         |              ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
//         = write "http://llm:8000/v1"
//
// Lines that may hold a secret are withheld, long ones are cut. Pure and thread-safe.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "services/kit/findings/finding.hpp"

namespace stackgate::validate {

/// Where a finding stands in a text.
struct Excerpt {
  std::string_view file;
  std::uint32_t line = 0;        // 1-based; 0: of the whole file
  std::uint32_t column = 0;      // 1-based, in characters
  std::uint32_t end_column = 0;  // behind the last character that the caret underlines
  std::string_view source{};     // the line's text; may be megabytes
  std::size_t byte = 0;          // of the column in it
  bool may_hold_secret = true;   // false: shown whatever it looks like
};

/// The colours of a terminal, or none.
struct Paint {
  explicit Paint(bool colour);
  std::string_view error, warning, place, caret, faint, plain;
};

void append_for_terminal(std::string& out, const Finding& finding, const Excerpt& at, const Paint& paint);

/// "problem (value: …)".
std::string message_of(const Finding& finding);

/// "1 error", "2 errors".
std::string count_of(std::size_t count, std::string_view what);

}  // namespace stackgate::validate
