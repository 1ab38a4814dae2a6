// Statements of one line.
#include <fmt/format.h>

#include "services/guardrail/colang/parser.hpp"
#include "services/kit/base/concat.hpp"

namespace stackgate::guardrail::colang {

bool Parser::nothing_left(const Cursor& cursor) {
  if (cursor.done()) return true;
  error(rule::syntax, place(cursor), concat({shown(cursor.rest()), " is left over at the end of the statement"}),
        "remove it, or write it on a line of its own");
  return false;
}

std::optional<Expression> Parser::expression(Cursor& cursor, std::string_view what) {
  if (cursor.done()) {
    error(rule::syntax, place(cursor), concat({"an expression is missing behind \"", what, "\""}),
          "write for example: $count > 3");
    return std::nullopt;
  }
  const Excerpt excerpt = cursor.excerpt();
  cursor.skip(excerpt.end - excerpt.begin);
  return compile_expression(excerpt, report_);
}

// A text in quotation marks that the cursor stands at; nothing, and a finding, when it has no end or is empty.
std::optional<std::string> Parser::inline_text(Cursor& cursor) {
  const Place at = place(cursor);
  const std::string_view quoted = cursor.take_quoted();
  if (quoted.empty()) {
    error(rule::syntax, at, "the text has no closing quotation mark", "write \" at its end");
    cursor.skip(cursor.rest().size());
    return std::nullopt;
  }
  if (quoted.size() == 2) {
    error(rule::syntax, at, "the text is empty", "write what is said between the quotation marks");
    return std::nullopt;
  }
  return unquoted(quoted);
}

Parser::Parsed Parser::user(Cursor& cursor, const Place& at) {
  Statement out{.kind = StatementKind::wait, .place = at};
  auto first = user_pattern(cursor);
  const Size end = end_of_block(next_ - 1);
  // Texts below it are examples.
  while (next_ < end && (lines_[next_].text.front() == '"' || lines_[next_].is_docstring)) {
    bool plain = false;
    std::string text = lines_[next_].is_docstring ? std::string() : quoted_or_plain(lines_[next_], plain);
    if (first && !text.empty())
      tree_.user_intents.push_back({.name = first->name, .examples = {std::move(text)}, .place = place_of(next_)});
    ++next_;
  }
  if (!first) return std::nullopt;
  out.patterns.push_back(*std::move(first));
  if (cursor.take("or") && !patterns(cursor, out.patterns)) return std::nullopt;
  return out;
}

Parser::Parsed Parser::bot(Cursor& cursor, const Place& at) {
  Statement out{.kind = StatementKind::say, .place = at};
  (void)cursor.take("says");
  if (is_anything(cursor.rest())) {
    cursor.skip(cursor.rest().size());
    out.any = true;
    return out;
  }
  if (cursor.rest().starts_with('$')) {
    out.text = cursor.rest();
    if (variables_of_text(out.text).size() != 1) {
      error(rule::syntax, place(cursor), concat({shown(out.text), " is no variable"}), "write: bot $answer");
      return std::nullopt;
    }
    out.said = compile_text(out.text, place(cursor), report_);
    cursor.skip(cursor.rest().size());
    return out.said ? Parsed(std::move(out)) : std::nullopt;
  }
  const std::size_t length = std::min(cursor.rest().find_first_of("\"$("), cursor.rest().size());
  out.name = plain_name(cursor.rest().substr(0, length));
  cursor.skip(length);
  if (cursor.rest().starts_with('$') && (out.name.ends_with(" with") || out.name.ends_with(" for"))) {
    // Variables are known to every text: that they are named changes nothing.
    out.name = plain_name(std::string_view(out.name).substr(0, out.name.rfind(' ')));
    while (cursor.take_sign("$") && !cursor.take_name().empty()) (void)cursor.take_sign(",");
  }
  std::vector<std::pair<std::string, Place>> texts;
  if (!cursor.done() && cursor.rest().front() == '"') {
    const Place there = place(cursor);
    auto text = inline_text(cursor);
    if (!text) return std::nullopt;
    texts.emplace_back(*std::move(text), there);
  }
  const Size end = end_of_block(next_ - 1);
  for (; next_ < end && lines_[next_].text.starts_with('"'); ++next_) {
    bool plain = false;
    if (std::string text = quoted_or_plain(lines_[next_], plain); !text.empty())
      texts.emplace_back(std::move(text), place_of(next_));
  }
  if (out.name.empty() && texts.empty()) {
    error(rule::syntax, at, "what the bot says is missing",
          "write the name of a \"define bot\", a text in quotation marks, or ... for what the model writes");
    return std::nullopt;
  }
  BotMessage message{.name = out.name, .texts = {}, .sources = {}, .place = at};
  for (auto& [text, there] : texts) {
    auto compiled = compile_text(text, there, report_);
    if (!compiled) return std::nullopt;
    out.said = *compiled;
    out.text = text;
    message.texts.push_back(*std::move(compiled));
    message.sources.push_back(std::move(text));
  }
  if (texts.size() > 1 && !out.name.empty()) {  // one of them, as of a definition
    out.said.reset();
    out.text.clear();
  }
  if (!out.name.empty() && !message.texts.empty()) tree_.inline_messages.push_back(std::move(message));
  return out;
}

Parser::Parsed Parser::event(Cursor& cursor, const Place& at) {
  Statement out{.kind = StatementKind::wait, .place = at};
  auto one = named_event(cursor);
  if (!one) return std::nullopt;
  out.patterns.push_back(*std::move(one));
  return out;
}

Parser::Parsed Parser::create_event(Cursor& cursor, const Place& at) {
  Statement out{.kind = StatementKind::create_event, .place = at};
  (void)cursor.take("event");
  out.name = cursor.take_name();
  if (out.name.empty()) {
    error(rule::syntax, place(cursor), "the name of the event is missing", "write: create event NAME(key=value)");
    return std::nullopt;
  }
  if (!cursor.rest().starts_with('(')) return out;
  auto given = arguments(cursor, false);
  if (!given) return std::nullopt;
  for (const Argument& each : *given)
    if (each.name.empty())
      error(rule::syntax, each.value.place, "a value of an event has no name", "write: name=value");
  out.arguments = *std::move(given);
  return out;
}

Parser::Parsed Parser::execute(Cursor& cursor, const Place& at, std::string_view variable) {
  Statement out{.kind = StatementKind::execute, .place = at, .variable = std::string(variable)};
  const Place named_at = place(cursor);
  out.name = plain_name(cursor.take_until("("));
  if (out.name.empty() || out.name.find_first_of("\"$=,") != std::string::npos) {
    error(rule::syntax, named_at,
          concat({out.name.empty() ? "a name" : shown(out.name),
                  out.name.empty() ? " is missing behind \"execute\"" : " is no name of an action"}),
          "write: execute action_name(key=$value)");
    return std::nullopt;
  }
  if (!cursor.rest().starts_with('(')) return out;
  auto given = arguments(cursor, false);
  if (!given) return std::nullopt;
  out.arguments = *std::move(given);
  return out;
}

void Parser::assign_to(std::vector<Statement>& out, const Place& at, Argument argument) const {
  out.push_back({.kind = StatementKind::assign,
                 .place = at,
                 .variable = std::move(argument.name),
                 .expression = std::move(argument.value)});
}

Parser::Parsed Parser::call(Cursor& cursor, const Place& at, std::string_view variable, std::vector<Statement>& out) {
  Statement made{.kind = StatementKind::call, .place = at, .variable = std::string(variable)};
  if (cursor.rest().starts_with('$')) {
    made.expression = expression(cursor, "do");
    return made.expression ? Parsed(std::move(made)) : std::nullopt;
  }
  const Place named_at = place(cursor);
  made.name = plain_name(cursor.take_until("($"));
  if (made.name.empty() || made.name.find('"') != std::string::npos) {
    error(rule::syntax, named_at, "the name of a flow is missing behind \"do\"", "write: do NAME, or do $flows[$i]");
    return std::nullopt;
  }
  if (cursor.rest().starts_with('(')) {
    auto given = arguments(cursor, false);
    if (!given) return std::nullopt;
    for (Argument& each : *given) {
      if (each.name.empty()) {
        error(rule::syntax, each.value.place, "a value for a flow has no name",
              "write: do NAME(key=$value); the flow reads $key");
        continue;
      }
      assign_to(out, at, std::move(each));
    }
    return made;
  }
  // `do content safety check input $model=judge`
  while (cursor.rest().starts_with('$')) {
    Excerpt excerpt = cursor.excerpt();
    const std::string_view pair = cursor.take_until(" ");
    const std::string_view name = name_at(pair, 1);
    if (name.empty() || 1 + name.size() >= pair.size() || pair[1 + name.size()] != '=') {
      error(rule::syntax, excerpt.place(report_), concat({shown(pair), " is no value for the flow"}),
            "write: do NAME $model=content_safety");
      return std::nullopt;
    }
    excerpt.end = excerpt.begin + pair.size();
    excerpt.begin += name.size() + 2;
    const std::string_view value = excerpt.text();
    const bool computed = !value.empty() && (value.front() == '$' || value.front() == '"' || value.front() == '\'');
    auto compiled = computed ? compile_expression(excerpt, report_) : text_as_expression(value, excerpt.place(report_));
    if (!compiled) return std::nullopt;
    assign_to(out, at, {.name = std::string(name), .value = *std::move(compiled)});
  }
  return made;
}

Parser::Parsed Parser::assignment(Cursor& cursor, const Place& at, std::vector<Statement>& out) {
  const Place named_at = place(cursor);
  const std::string_view name = cursor.take_sign("$") ? cursor.take_name() : std::string_view();
  if (name.empty()) {
    error(rule::syntax, named_at, "a variable's name is missing", "write: $answer = …");
    return std::nullopt;
  }
  char changed = '\0';
  if (cursor.rest().starts_with("+=") || cursor.rest().starts_with("-=")) changed = cursor.rest().front();
  if (changed != '\0') {
    cursor.skip(2);
  } else if (cursor.rest().starts_with("==") || !cursor.take_sign("=")) {
    const bool part = cursor.rest().starts_with('.') || cursor.rest().starts_with('[');
    error(rule::syntax, place(cursor),
          part ? "a part of a variable cannot be assigned" : concat({"\"=\" is missing behind $", name}),
          part ? "assign the whole variable, or change it in an action" : concat({"write: $", name, " = …"}));
    return std::nullopt;
  }
  if (changed == '\0') {
    if (cursor.take("execute") || cursor.take("exec") || cursor.take("run")) return execute(cursor, at, name);
    if (cursor.take("do")) return call(cursor, at, name, out);
    if (cursor.rest() == "..." || cursor.rest() == "\u2026") {
      cursor.skip(cursor.rest().size());
      return Statement{
          .kind = StatementKind::generate, .place = at, .variable = std::string(name), .text = cursor.line().comment};
    }
  }
  const Place value_at = place(cursor);
  const std::string source(cursor.rest());
  auto value = expression(cursor, "=");
  if (!value) return std::nullopt;
  if (changed != '\0') {
    const Line whole{.text = fmt::format("${} {} ({})", name, changed, source),
                     .parts = {{0, static_cast<std::uint32_t>(report_.offset(value_at))}}};
    value = compile_expression({.file = file_, .line = &whole, .begin = 0, .end = whole.text.size()}, report_);
    if (!value) return std::nullopt;
  }
  return Statement{
      .kind = StatementKind::assign, .place = at, .variable = std::string(name), .expression = std::move(value)};
}

Parser::Parsed Parser::give_back(Cursor& cursor, const Place& at) {
  Statement out{.kind = StatementKind::give_back, .place = at};
  if (cursor.done()) return out;
  out.expression = expression(cursor, "return");
  return out.expression ? Parsed(std::move(out)) : std::nullopt;
}

// goto and label. What a checkpoint may be given besides its name says nothing here.
Parser::Parsed Parser::named(StatementKind kind, Cursor& cursor, const Place& at, std::string_view what) {
  Statement out{.kind = kind, .place = at};
  const std::size_t length = std::min(cursor.rest().find_first_of("$\""), cursor.rest().size());
  out.name = plain_name(cursor.rest().substr(0, length));
  cursor.skip(kind == StatementKind::label ? cursor.rest().size() : length);
  if (!out.name.empty()) return out;
  error(rule::label, at, concat({"the label's name is missing behind \"", what, "\""}),
        "write: label again, and: goto again");
  return std::nullopt;
}

}  // namespace stackgate::guardrail::colang
