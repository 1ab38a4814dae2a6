// Lines of a file to its tree. After a fault it goes on with the next statement or definition.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/colang/expression.hpp"
#include "services/guardrail/colang/lines.hpp"
#include "services/guardrail/colang/tree.hpp"

namespace stackgate::guardrail::colang {

/// Reads one line from left to right.
class Cursor {
 public:
  Cursor(std::uint32_t file, const Line& line);

  /// What is left, without white space at its ends and the colon that may stand at the line's end.
  std::string_view rest() const { return std::string_view(line_->text).substr(at_, end_ - at_); }
  bool done() const { return at_ >= end_; }
  /// The next word: up to a space. It stays.
  std::string_view word() const;
  /// The first word, if it is this one, and the spaces behind it.
  bool take(std::string_view word);
  bool take_sign(std::string_view sign);
  std::string_view take_name();
  /// A quoted text, with its quotation marks; empty when there is none or it has no end.
  std::string_view take_quoted();
  /// Up to the first of these characters that stands in no text, or to the end; trimmed.
  std::string_view take_until(std::string_view signs);
  /// What is left up to `length` bytes on.
  Excerpt excerpt(std::size_t length = std::string_view::npos) const;
  void skip(std::size_t length);
  std::size_t position() const { return at_; }
  const Line& line() const { return *line_; }

 private:
  void spaces();
  std::uint32_t file_;
  const Line* line_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
};

class Parser {
 public:
  Parser(std::uint32_t file, const Source& source, const CompileLimits& limits, Report& report);
  FileTree parse();

 private:
  using Size = std::size_t;

  // Definitions.
  void definition();
  void define_user(Cursor& cursor, const Place& place);
  void define_bot(Cursor& cursor, const Place& place);
  void define_flow(Cursor& cursor, Flow flow, std::string_view kind, Size end);
  std::string quoted_or_plain(const Line& line, bool& plain);
  /// Whether the file is of Colang 2: reported once, nothing more is read.
  bool is_second_generation();
  void outside();

  // Blocks: the lines from next_ to `end`, all deeper than what they belong to.
  std::vector<Statement> block(Size end, std::uint32_t depth);
  Size end_of_block(Size header) const;
  std::vector<Statement> body_of(Size header, std::string_view what, std::uint32_t depth);
  void statement(std::vector<Statement>& out, Size end, std::uint32_t depth);
  void skip_deeper(Size header, std::string_view why);

  // Statements. They leave next_ behind their last line.
  using Parsed = std::optional<Statement>;
  Parsed user(Cursor& cursor, const Place& place);
  Parsed bot(Cursor& cursor, const Place& place);
  Parsed keyword(std::vector<Statement>& out, Cursor& cursor, const Place& place, std::uint32_t depth);
  Parsed event(Cursor& cursor, const Place& place);
  Parsed create_event(Cursor& cursor, const Place& place);
  Parsed execute(Cursor& cursor, const Place& place, std::string_view variable);
  Parsed call(Cursor& cursor, const Place& place, std::string_view variable, std::vector<Statement>& out);
  Parsed assignment(Cursor& cursor, const Place& place, std::vector<Statement>& out);
  Parsed condition(Cursor& cursor, const Place& place, std::uint32_t depth);
  Parsed loop(Cursor& cursor, const Place& place, std::uint32_t depth);
  Parsed choice(Cursor& cursor, const Place& place, std::uint32_t depth);
  Parsed any(Cursor& cursor, const Place& place);
  Parsed simple(StatementKind kind, const Place& place) const { return Statement{.kind = kind, .place = place}; }
  Parsed give_back(Cursor& cursor, const Place& place);
  Parsed named(StatementKind kind, Cursor& cursor, const Place& place, std::string_view what);
  void unknown(const Cursor& cursor, const Place& place);
  void meta(Cursor& cursor);
  void priority(Cursor& cursor);

  /// `user …`, `bot …`, `event …` or the event's name alone, and others behind "or".
  bool patterns(Cursor& cursor, std::vector<EventPattern>& out);
  std::optional<EventPattern> pattern(Cursor& cursor);
  std::optional<EventPattern> named_event(Cursor& cursor);
  std::optional<std::vector<Argument>> arguments(Cursor& cursor, bool of_pattern);
  std::optional<Argument> argument(Cursor& cursor, bool of_pattern);
  std::optional<Expression> expression(Cursor& cursor, std::string_view what);
  std::optional<EventPattern> user_pattern(Cursor& cursor);
  std::optional<EventPattern> bot_pattern(Cursor& cursor);
  bool nothing_left(const Cursor& cursor);
  std::optional<std::string> inline_text(Cursor& cursor);
  void assign_to(std::vector<Statement>& out, const Place& place, Argument argument) const;

  Cursor cursor_at(Size line) const { return {file_, lines_[line]}; }
  Place place(const Cursor& cursor) const { return report_.place(file_, cursor.line().offset(cursor.position())); }
  Place place_of(Size line) const { return report_.place(file_, lines_[line].offset(0)); }
  void error(std::string_view rule, const Place& at, std::string problem, std::string fix) {
    report_.error(rule, at, std::move(problem), std::move(fix));
  }

  std::uint32_t file_;
  const CompileLimits& limits_;
  Report& report_;
  std::vector<Line> lines_;
  Size next_ = 0;
  FileTree tree_;
  Flow* flow_ = nullptr;  // the one being read
};

/// "...", and other words for whatever is said.
bool is_anything(std::string_view text);
/// Spaces in a row as one.
std::string plain_name(std::string_view name);

}  // namespace stackgate::guardrail::colang
