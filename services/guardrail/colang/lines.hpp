// A file's text as lines that mean something: without comments, with what goes on over several lines put together.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/colang/report.hpp"

namespace stackgate::guardrail::colang {

struct Line {
  /// `text[at…]` stands at `offset` of the file.
  struct Part {
    std::uint32_t at = 0;
    std::uint32_t offset = 0;
  };
  std::uint32_t indent = 0;  // columns
  std::string text;          // trimmed; without a comment
  std::vector<Part> parts;   // one for each line of the file that it was made of
  std::string comment;       // the comment lines right above it
  bool is_docstring = false;

  /// Where `text[at]` stands in the file.
  std::size_t offset(std::size_t at) const;
};

/// Lines that end with a backslash or " or", or within parentheses, go on with the next one. `"""…"""` is one line.
/// Faults of encoding, indentation and ends that are missing are reported.
std::vector<Line> lines_of(std::uint32_t file, const Source& source, Report& report);

/// What ends at `end` of a text that begins at `at` with a quotation mark; npos when it has no end. Backslashes escape.
std::size_t end_of_quoted(std::string_view text, std::size_t at);
/// Whether the character at `at` begins a quoted text: a `"`, or a `'` that is no apostrophe.
bool begins_quoted(std::string_view text, std::size_t at);

std::string_view trim(std::string_view text);

}  // namespace stackgate::guardrail::colang
