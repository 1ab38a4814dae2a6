// Inside of a tag: names, numbers, strings, operators.
#pragma once
#include <expected>
#include <string_view>
#include <vector>

#include "services/kit/jinja/token.hpp"

namespace stackgate::jinja {

/// Reads tokens of an expression from `at` on, which moves behind them.
class Scanner {
 public:
  Scanner(std::string_view source, std::size_t at, std::vector<Token>& tokens)
      : source_(source), at_(at), tokens_(tokens) {}

  /// Adds the next token.
  std::expected<void, Fault> next();
  void skip_space();
  bool at_end() const { return at_ >= source_.size(); }
  std::string_view rest() const { return source_.substr(at_); }
  std::size_t at() const { return at_; }
  /// Whether a bracket is open: "}}" does not end the tag then.
  bool is_inside() const { return !open_.empty(); }
  std::expected<void, Fault> check_closed() const;

 private:
  std::expected<void, Fault> number();
  std::expected<void, Fault> string();
  std::expected<void, Fault> operation();
  void add(TokenKind kind, std::size_t size, Value value = {});

  std::string_view source_;
  std::size_t at_;
  std::vector<Token>& tokens_;
  std::vector<char> open_;  // the brackets that would close
};

/// A string's text between its quotes, as Python's unicode-escape codec reads it. The error says what is wrong.
std::expected<std::string, std::string> unescaped(std::string_view text);

}  // namespace stackgate::jinja
