// What is waited for, and arguments.
#include <algorithm>

#include "services/guardrail/colang/parser.hpp"
#include "services/kit/base/concat.hpp"

namespace stackgate::guardrail::colang {
namespace {

constexpr std::size_t most_of_one = 100;  // arguments of a call, events of a statement

// A value that is one word: neither a variable nor a text.
bool is_bare(std::string_view value) {
  return !value.empty() && name_at(value, 0).size() == value.size() && value != "True" && value != "False" &&
         value != "None" && value != "true" && value != "false" && value != "none";
}

}  // namespace

bool is_anything(std::string_view text) {
  return text == "..." || text == "\u2026" || text == "*" || text == "something" || text == "something else";
}

bool Parser::patterns(Cursor& cursor, std::vector<EventPattern>& out) {
  do {
    auto one = pattern(cursor);
    if (!one) return false;
    if (out.size() == most_of_one) {
      error(rule::limit, place(cursor), "a statement waits for more than 100 events", "divide it");
      return false;
    }
    out.push_back(*std::move(one));
  } while (cursor.take("or"));
  return true;
}

std::optional<EventPattern> Parser::pattern(Cursor& cursor) {
  if (cursor.take("user")) return user_pattern(cursor);
  if (cursor.take("bot")) return bot_pattern(cursor);
  (void)cursor.take("event");
  return named_event(cursor);
}

std::optional<EventPattern> Parser::user_pattern(Cursor& cursor) {
  (void)cursor.take("says");
  const Place at = place(cursor);
  if (cursor.rest().starts_with('"')) {
    auto text = inline_text(cursor);
    if (!text) return std::nullopt;
    tree_.inline_intents.push_back({.name = *text, .examples = {*text}, .place = at});
    return EventPattern{.kind = EventKind::user_intent, .name = *std::move(text), .arguments = {}};
  }
  const std::string_view rest = cursor.rest();
  const std::size_t other = std::min(rest.find(" or user "), rest.find(" or event "));
  const std::size_t quote = rest.find('"');
  const std::size_t length = std::min({other, quote, rest.size()});
  std::string name = plain_name(rest.substr(0, length));
  cursor.skip(length);
  if (is_anything(name)) return EventPattern{.kind = EventKind::any_user_intent, .name = {}, .arguments = {}};
  if (name.empty() || name.find_first_of("$()[]{}") != std::string::npos) {
    error(rule::syntax, at,
          concat({name.empty() ? "a name" : shown(name),
                  name.empty() ? " is missing behind \"user\"" : " is no name of a user's intent"}),
          "write the name of a \"define user\", a text in quotation marks, or ... for whatever is said");
    return std::nullopt;
  }
  if (!cursor.done() && cursor.rest().front() == '"') {
    const auto text = inline_text(cursor);
    if (text) tree_.user_intents.push_back({.name = name, .examples = {*text}, .place = at});
  }
  return EventPattern{.kind = EventKind::user_intent, .name = std::move(name), .arguments = {}};
}

std::optional<EventPattern> Parser::bot_pattern(Cursor& cursor) {
  const Place at = place(cursor);
  const std::string_view rest = cursor.rest();
  const std::size_t length = std::min({rest.find(" or bot "), rest.find(" or user "), rest.size()});
  std::string name = plain_name(rest.substr(0, length));
  cursor.skip(length);
  if (is_anything(name)) return EventPattern{.kind = EventKind::any_bot_intent, .name = {}, .arguments = {}};
  if (name.empty() || name.find_first_of("\"$()[]{}") != std::string::npos) {
    error(rule::syntax, at, "the name of a bot message is missing or is no name",
          "write the name of a \"define bot\", or ... for whatever is said");
    return std::nullopt;
  }
  return EventPattern{.kind = EventKind::bot_intent, .name = std::move(name), .arguments = {}};
}

std::optional<EventPattern> Parser::named_event(Cursor& cursor) {
  const Place at = place(cursor);
  const std::string_view name = cursor.take_name();
  if (name.empty()) {
    error(rule::syntax, at, "the name of an event is missing", "write: event NAME, or event NAME(key=value)");
    return std::nullopt;
  }
  EventPattern out{.kind = EventKind::named, .name = std::string(name), .arguments = {}};
  while (!cursor.done() && begins_name(cursor.rest().front()) && cursor.word() != "or") {
    const std::string_view more = cursor.take_name();
    out.name += concat({" ", more});
  }
  if (out.name.size() > name.size())
    report_.warning(rule::intent, at, concat({shown(out.name), " is waited for as an event, which never comes"}),
                    concat({"write user before it: user ", out.name}));
  if (!cursor.rest().starts_with('(')) return out;
  auto given = arguments(cursor, true);
  if (!given) return std::nullopt;
  out.arguments = *std::move(given);
  return out;
}

// "(" … ")"
std::optional<std::vector<Argument>> Parser::arguments(Cursor& cursor, bool of_pattern) {
  const Place open = place(cursor);
  std::vector<Argument> out;
  bool readable = true;
  (void)cursor.take_sign("(");
  while (!cursor.take_sign(")")) {
    if (cursor.done()) {
      error(rule::syntax, open, "the parenthesis is not closed", "write ) behind the last argument");
      return std::nullopt;
    }
    if (out.size() == most_of_one) {
      error(rule::limit, open, "there are more than 100 arguments", "put them into one variable");
      return std::nullopt;
    }
    if (auto one = argument(cursor, of_pattern)) {
      for (const Argument& other : out)
        if (!one->name.empty() && other.name == one->name)
          error(rule::syntax, one->value.place, concat({"argument ", shown(one->name), " is given twice"}),
                "remove one of them");
      // "..." stands for whatever the event has.
      if (!of_pattern || one->value.source != "\"...\"") out.push_back(*std::move(one));
    } else {
      readable = false;
    }
    (void)cursor.take_sign(",");
  }
  return readable ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<Argument> Parser::argument(Cursor& cursor, bool of_pattern) {
  const Place at = place(cursor);
  Excerpt excerpt = cursor.excerpt();
  excerpt.end = excerpt.begin + cursor.take_until(",)").size();
  std::string_view text = excerpt.text();
  Argument out{.name = {}, .value = text_as_expression({}, at)};
  const std::size_t dollar = text.starts_with('$') ? 1 : 0;  // $name=value, too
  const std::string_view name = name_at(text, dollar);
  const std::size_t equals = text.find_first_not_of(' ', dollar + name.size());
  if (!name.empty() && equals < text.size() && text[equals] == '=' && !text.substr(equals).starts_with("==")) {
    out.name = name;
    const std::size_t value = std::min(text.find_first_not_of(' ', equals + 1), text.size());
    excerpt.begin += value;
    text = excerpt.text();
  }
  if (text.empty()) {
    error(rule::syntax, at,
          out.name.empty() ? "an argument is missing" : concat({"argument ", shown(out.name), " has no value"}),
          "write: name=value");
    return std::nullopt;
  }
  if (of_pattern && text == "...") {
    out.value = text_as_expression("...", at);
    return out;
  }
  if (is_bare(text)) {
    report_.warning(rule::expression, excerpt.place(report_), concat({shown(text), " is taken as a text"}),
                    concat({"write \"", text, "\" in quotation marks, or $", text, " for the variable"}));
    out.value = text_as_expression(text, excerpt.place(report_));
    return out;
  }
  auto value = compile_expression(excerpt, report_);
  if (!value) return std::nullopt;
  out.value = *std::move(value);
  return out;
}

}  // namespace stackgate::guardrail::colang
