// A template's text cut into pieces (Jinja2's lexer): text between tags, tags, and what stands inside of tags.
#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/jinja/fault.hpp"
#include "services/kit/jinja/value.hpp"

namespace stackgate::jinja {

struct Environment;

enum class TokenKind : std::uint8_t {
  text,  // between tags, stripped as the tags ask for
  block_begin,
  block_end,
  output_begin,
  output_end,
  name,
  string,     // value: unescaped
  integer,    // value
  real,       // value
  operation,  // text: "+", "//", "("
  end,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::uint32_t at = 0;   // offset in the source
  std::string_view text;  // a part of the source
  Value value;
};

/// `source` has '\n' as its only line end, and outlives the tokens. The last token is `end`.
std::expected<std::vector<Token>, Fault> tokens_of_template(std::string_view source, const Environment& environment);
std::expected<std::vector<Token>, Fault> tokens_of_expression(std::string_view source);

/// "\r\n" and "\r" become "\n".
std::string normal_line_ends(std::string_view source);

/// A syntax fault at an offset.
Fault fault_at(std::string_view source, std::size_t offset, std::string message);
/// Line and column from 1.
void place(Fault& fault, std::string_view source, std::size_t offset);

}  // namespace stackgate::jinja
