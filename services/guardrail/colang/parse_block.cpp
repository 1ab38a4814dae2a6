// Blocks of statements, and the statements that hold blocks.
#include <array>

#include "services/guardrail/colang/parser.hpp"
#include "services/kit/base/concat.hpp"

namespace stackgate::guardrail::colang {
namespace {

constexpr std::array<std::string_view, 34> keywords = {
    "user",      "bot",   "event",    "create event", "execute", "do",     "if",         "else",   "else if",
    "else when", "while", "when",     "stop",         "goto",    "label",  "checkpoint", "return", "break",
    "continue",  "pass",  "priority", "meta",         "any",     "abort",  "run",        "create", "new",
    "done",      "infer", "go",       "exec",         "set",     "define", "expect"};

bool begins_with_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) && (text.size() == word.size() || text[word.size()] == ' ' || text[word.size()] == ':');
}

}  // namespace

std::vector<Statement> Parser::block(Size end, std::uint32_t depth) {
  std::vector<Statement> out;
  if (depth > limits_.nesting) {
    error(rule::limit, place_of(next_), "blocks are nested too deeply", "move the inner ones into subflows");
    next_ = end;
    return out;
  }
  std::uint32_t indent = lines_[next_].indent;
  while (next_ < end) {
    const Line& line = lines_[next_];
    if (line.is_docstring) {
      if (depth == 1 && out.empty() && flow_->description.empty()) flow_->description = line.text;
      ++next_;
      continue;
    }
    if (line.indent < indent) {
      error(rule::indentation, place_of(next_),
            "the line is indented less than its block and more than what the block belongs to",
            "align it with the line that it goes with");
      indent = line.indent;
    }
    statement(out, end, depth);
  }
  return out;
}

void Parser::statement(std::vector<Statement>& out, Size end, std::uint32_t depth) {
  const Size header = next_++;
  Cursor cursor = cursor_at(header);
  const Place at = place(cursor);
  Parsed parsed = keyword(out, cursor, at, depth);
  const bool known = parsed.has_value();
  if (known) {
    (void)nothing_left(cursor);
    out.push_back(*std::move(parsed));
  }
  if (next_ < end && lines_[next_].indent > lines_[header].indent) {
    skip_deeper(header, known ? "the line is indented more than the statement above, which holds no others" : "");
  }
}

Parser::Parsed Parser::keyword(std::vector<Statement>& out, Cursor& cursor, const Place& at, std::uint32_t depth) {
  if (cursor.rest().starts_with('$')) return assignment(cursor, at, out);
  if (cursor.take("user")) return user(cursor, at);
  if (cursor.take("bot")) return bot(cursor, at);
  if (cursor.take("execute") || cursor.take("exec") || cursor.take("run")) return execute(cursor, at, {});
  if (cursor.take("do")) return call(cursor, at, {}, out);
  if (cursor.take("if")) return condition(cursor, at, depth);
  if (cursor.take("while")) return loop(cursor, at, depth);
  if (cursor.take("when")) return choice(cursor, at, depth);
  if (cursor.take("any")) return any(cursor, at);
  if (cursor.take("event")) return event(cursor, at);
  if (cursor.take("create") || cursor.take("new") || cursor.take("infer")) return create_event(cursor, at);
  if (cursor.take("stop") || cursor.take("abort")) return simple(StatementKind::stop, at);
  if (cursor.take("return") || cursor.take("done")) return give_back(cursor, at);
  if (cursor.take("break")) return simple(StatementKind::leave, at);
  if (cursor.take("continue")) return simple(StatementKind::repeat, at);
  if (cursor.take("goto")) return named(StatementKind::go_to, cursor, at, "goto");
  if (begins_with_word(cursor.rest(), "go to")) {
    cursor.skip(5);
    return named(StatementKind::go_to, cursor, at, "go to");
  }
  if (cursor.take("label") || cursor.take("checkpoint")) return named(StatementKind::label, cursor, at, "label");
  if (cursor.take("set")) return assignment(cursor, at, out);
  if (cursor.take("pass")) {
    (void)nothing_left(cursor);
  } else if (cursor.take("priority")) {
    priority(cursor);
  } else if (cursor.take("meta")) {
    meta(cursor);
  } else {
    unknown(cursor, at);
  }
  return std::nullopt;
}

void Parser::unknown(const Cursor& cursor, const Place& at) {
  const std::string_view text = cursor.rest();
  const std::string_view word = cursor.word();
  if (word == "else")
    return error(rule::syntax, at, "there is no \"if\" or \"when\" in the block above that this \"else\" belongs to",
                 "indent it as the \"if\" or \"when\" that it goes with");
  if (word == "elif" || word == "elseif")
    return error(rule::syntax, at, concat({"there is no \"", word, "\""}), "write: else if");
  if (word == "for" || word == "foreach")
    return error(rule::syntax, at, concat({"there is no \"", word, "\""}),
                 "count in a variable: while $i < len($items), and $i = $i + 1 at the end of its block");
  if (!text.empty() && begins_quoted(text, 0))
    return error(rule::syntax, at, "a text alone is no statement", "write bot before it, or user");
  if (word == "define")
    return error(rule::indentation, at, "a definition stands inside of another one", "begin its line without spaces");
  if (word == "import" || word == "include")
    return error(rule::syntax, at, concat({"\"", word, "\" is not supported"}),
                 "remove the line: every .co file of the configuration is read");
  error(rule::syntax, at, concat({shown(word), " begins no statement", report_.did_you_mean(word, keywords)}),
        "begin with user, bot, execute, do, if, while, when, event, create event, stop, return or $variable =");
}

void Parser::skip_deeper(Size header, std::string_view why) {
  if (!why.empty()) error(rule::indentation, place_of(next_), std::string(why), "indent it as the statement above");
  next_ = end_of_block(header);
}

// The block below a statement that must have one.
std::vector<Statement> Parser::body_of(Size header, std::string_view what, std::uint32_t depth) {
  const Size end = end_of_block(header);
  if (end == header + 1) {
    error(rule::syntax, place_of(header), concat({"\"", what, "\" has no statements"}),
          "write them below it, indented; pass does nothing");
    return {};
  }
  next_ = header + 1;
  std::vector<Statement> body = block(end, depth + 1);
  next_ = end;
  return body;
}

Parser::Parsed Parser::condition(Cursor& cursor, const Place& at, std::uint32_t depth) {
  Statement out{.kind = StatementKind::condition, .place = at};
  Size header = next_ - 1;
  const std::uint32_t indent = lines_[header].indent;
  out.branches.push_back({.place = at, .condition = expression(cursor, "if")});
  out.branches.back().body = body_of(header, "if", depth);
  bool readable = out.branches.back().condition.has_value();
  bool closed = false;
  while (next_ < lines_.size() && lines_[next_].indent == indent && begins_with_word(lines_[next_].text, "else")) {
    header = next_;
    Cursor other = cursor_at(header);
    const Place there = place(other);
    (void)other.take("else");
    if (other.word() == "when") break;
    ++next_;
    if (closed) error(rule::syntax, there, "another \"else\" of the same \"if\" stands above", "remove one of them");
    const bool again = other.take("if");
    out.branches.push_back({.place = there});
    if (again) {
      out.branches.back().condition = expression(other, "else if");
      readable = readable && out.branches.back().condition;
    } else {
      closed = true;
    }
    (void)nothing_left(other);
    out.branches.back().body = body_of(header, again ? "else if" : "else", depth);
  }
  return readable ? Parsed(std::move(out)) : std::nullopt;
}

Parser::Parsed Parser::loop(Cursor& cursor, const Place& at, std::uint32_t depth) {
  Statement out{.kind = StatementKind::loop, .place = at};
  const Size header = next_ - 1;
  out.branches.push_back({.place = at, .condition = expression(cursor, "while")});
  out.branches.back().body = body_of(header, "while", depth);
  return out.branches.back().condition ? Parsed(std::move(out)) : std::nullopt;
}

Parser::Parsed Parser::choice(Cursor& cursor, const Place& at, std::uint32_t depth) {
  Statement out{.kind = StatementKind::choice, .place = at};
  Size header = next_ - 1;
  const std::uint32_t indent = lines_[header].indent;
  out.branches.push_back({.place = at});
  bool readable = patterns(cursor, out.branches.back().patterns);
  out.branches.back().body = body_of(header, "when", depth);
  while (next_ < lines_.size() && lines_[next_].indent == indent && begins_with_word(lines_[next_].text, "else")) {
    header = next_++;
    Cursor other = cursor_at(header);
    const Place there = place(other);
    (void)other.take("else");
    out.branches.push_back({.place = there});
    if (!other.take("when")) {
      error(rule::syntax, there, "an \"else\" of \"when\" is not supported", "write: else when user ...");
      readable = false;
      (void)body_of(header, "else", depth);
      continue;
    }
    readable = patterns(other, out.branches.back().patterns) && readable;
    (void)nothing_left(other);
    out.branches.back().body = body_of(header, "else when", depth);
  }
  return readable ? Parsed(std::move(out)) : std::nullopt;
}

// Each line below it is one pattern.
Parser::Parsed Parser::any(Cursor& cursor, const Place& at) {
  Statement out{.kind = StatementKind::wait, .place = at};
  if (!cursor.done()) return patterns(cursor, out.patterns) ? Parsed(std::move(out)) : std::nullopt;
  const Size end = end_of_block(next_ - 1);
  bool readable = true;
  for (; next_ < end; ++next_) {
    if (lines_[next_].is_docstring) continue;
    Cursor each = cursor_at(next_);
    readable = patterns(each, out.patterns) && nothing_left(each) && readable;
  }
  if (readable && out.patterns.empty()) {
    error(rule::syntax, at, "\"any\" has no events", "write them below it, indented: user NAME");
    return std::nullopt;
  }
  return readable ? Parsed(std::move(out)) : std::nullopt;
}

}  // namespace stackgate::guardrail::colang
