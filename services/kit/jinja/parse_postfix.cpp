// What stands behind an expression: attributes, indices, calls, filters and tests.
#include <algorithm>
#include <charconv>

#include "services/kit/base/concat.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/jinja/parser.hpp"

namespace stackgate::jinja {

Parser::Parsed Parser::postfix(ExprPtr expr) {
  for (;;) {
    if (is_op(".") || is_op("[")) {
      expr = TRY(subscript(std::move(expr)));
    } else if (is_op("(")) {
      expr = TRY(call(std::move(expr)));
    } else {
      return expr;
    }
  }
}

Parser::Parsed Parser::filters_and_tests(ExprPtr expr) {
  for (;;) {
    if (is_op("|")) {
      expr = TRY(filters(std::move(expr)));
    } else if (is_name("is")) {
      expr = TRY(test(std::move(expr)));
    } else if (is_op("(")) {
      expr = TRY(call(std::move(expr)));
    } else {
      return expr;
    }
  }
}

Parser::Parsed Parser::subscript(ExprPtr expr) {
  Expr out;
  out.at = tokens_[next_].at;
  const bool is_point = tokens_[next_++].text == ".";
  if (is_point && current().kind == TokenKind::name) {
    out.kind = ExprKind::attribute;
    const std::string_view name = tokens_[next_++].text;
    out.constant = name;
    out.missing = Undefined{std::make_shared<const Text>(concat({"there is no attribute \"", name, "\" here"}))};
    out.parts.push_back(std::move(expr));
    return finish(std::move(out));
  }
  out.kind = ExprKind::item;
  out.parts.push_back(std::move(expr));
  if (is_point) {
    if (current().kind != TokenKind::integer)
      return std::unexpected(fault(current().at, "expected a name or a number behind \".\""));
    out.parts.push_back(TRY(primary()));
    return finish(std::move(out));
  }
  Expr index;
  index.kind = ExprKind::tuple;
  index.at = current().at;
  while (!is_op("]")) {
    if (!index.parts.empty()) TRY(expect_op(","));
    index.parts.push_back(TRY(subscript_part()));
  }
  ++next_;
  if (index.parts.size() == 1) {
    out.parts.push_back(std::move(index.parts.front()));
  } else {
    if (std::ranges::any_of(index.parts, [](const ExprPtr& part) { return part->kind == ExprKind::slice; }))
      return std::unexpected(fault(index.at, "a slice inside of a list of indices"));
    out.parts.push_back(TRY(finish(std::move(index))));
  }
  return finish(std::move(out));
}

Parser::Parsed Parser::subscript_part() {
  Expr out;
  out.kind = ExprKind::slice;
  out.at = current().at;
  if (is_op(":")) {
    out.parts.push_back(nullptr);
  } else {
    ExprPtr first = TRY(expression());
    if (!is_op(":")) return first;
    out.parts.push_back(std::move(first));
  }
  while (out.parts.size() < 3) {
    const bool has_colon = skip_op(":");
    const bool is_left_out = !has_colon || is_op(":") || is_op("]") || is_op(",");
    out.parts.push_back(is_left_out ? ExprPtr() : TRY(expression()));
  }
  return finish(std::move(out));
}

Parser::Parsed Parser::call(ExprPtr callee) {
  Expr out;
  out.kind = ExprKind::call;
  out.at = callee->at;
  if (callee->kind == ExprKind::name) called_.emplace_back(callee->symbol, callee->at);
  out.parts.push_back(std::move(callee));
  TRY(arguments(out));
  return finish(std::move(out));
}

Parser::Done Parser::arguments(Expr& call) {
  TRY(expect_op("("));
  for (bool first = true; !is_op(")"); first = false) {
    if (!first) TRY(expect_op(","));
    if (is_op(")")) break;
    TRY(argument(call));
  }
  ++next_;
  return {};
}

Parser::Done Parser::argument(Expr& call) {
  const std::size_t at = current().at;
  const bool has_rest = call.rest || call.named_rest;
  if (skip_op("*")) {
    if (has_rest) return std::unexpected(fault(at, "more than one \"*\" in a call"));
    call.rest = TRY(expression());
  } else if (skip_op("**")) {
    if (call.named_rest) return std::unexpected(fault(at, "more than one \"**\" in a call"));
    call.named_rest = TRY(expression());
  } else if (current().kind == TokenKind::name && ahead().text == "=" && ahead().kind == TokenKind::operation) {
    std::string name(current().text);
    next_ += 2;
    if (std::ranges::any_of(call.named, [&](const auto& each) { return each.first == name; }))
      return std::unexpected(fault(at, concat({"the argument \"", name, "\" is given twice"})));
    ExprPtr value = TRY(expression());
    call.named.emplace_back(std::move(name), std::move(value));
  } else {
    if (has_rest || !call.named.empty())
      return std::unexpected(fault(at, "an argument without a name stands behind one with a name"));
    call.parts.push_back(TRY(expression()));
  }
  return {};
}

Parser::Parsed Parser::filters(ExprPtr subject) {
  while (skip_op("|")) subject = TRY(filter(std::move(subject)));
  return subject;
}

Parser::Parsed Parser::filter(ExprPtr subject) {
  Expr out;
  out.kind = ExprKind::filter;
  out.at = current().at;
  std::string name = TRY(expect_name("the name of a filter"));
  while (skip_op(".")) name += "." + TRY(expect_name("the name of a filter"));
  out.callee = find_filter(name, *program_.environment);
  if (!out.callee)
    return std::unexpected(
        fault(out.at, concat({"there is no filter \"", name, "\"", suggest_filter(name, *program_.environment)})));
  const bool has_late = !program_.environment->late_filters.empty() || program_.environment->unknown_filters_are_late;
  if (out.callee.late || (has_late && name == "map")) program_.late_filters.push_back(name);
  if (out.callee.late) out.constant = Value(std::move(name));
  out.parts.push_back(std::move(subject));
  if (is_op("(")) TRY(arguments(out));
  return finish(std::move(out));
}

Parser::Parsed Parser::test(ExprPtr subject) {
  ++next_;
  const bool is_negated = skip_name("not");
  Expr out;
  out.kind = ExprKind::test;
  out.at = current().at;
  std::string name = TRY(expect_name("the name of a test behind \"is\""));
  while (skip_op(".")) name += "." + TRY(expect_name("the name of a test"));
  out.callee = find_test(name);
  if (!out.callee)
    return std::unexpected(fault(out.at, concat({"there is no test \"", name, "\"", suggest_test(name)})));
  if ((name == "defined" || name == "undefined") && subject->kind == ExprKind::name) asked_.insert(subject->symbol);
  out.parts.push_back(std::move(subject));
  const bool is_word = current().kind == TokenKind::name && !is_name("else") && !is_name("or") && !is_name("and");
  const TokenKind kind = current().kind;
  if (is_op("(")) {
    TRY(arguments(out));
  } else if (is_word || kind == TokenKind::string || kind == TokenKind::integer || kind == TokenKind::real ||
             is_op("[") || is_op("{")) {
    if (is_name("is")) return std::unexpected(fault(current().at, "tests cannot be chained; write \"and\""));
    ExprPtr argument = TRY(primary());
    out.parts.push_back(TRY(postfix(std::move(argument))));
  }
  if (!is_negated) return finish(std::move(out));
  Expr negated;
  negated.kind = ExprKind::logical_not;
  negated.at = out.at;
  negated.parts.push_back(TRY(finish(std::move(out))));
  return finish(std::move(negated));
}

}  // namespace stackgate::jinja
