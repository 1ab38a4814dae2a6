#include <algorithm>
#include <limits>

#include "services/kit/base/concat.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/jinja/parser.hpp"

namespace stackgate::jinja {
namespace {

constexpr std::uint32_t deepest_expression = 200;

Expr expr_at(ExprKind kind, std::size_t at) {
  Expr out;
  out.kind = kind;
  out.at = static_cast<std::uint32_t>(at);
  return out;
}

}  // namespace

Fault Parser::fault(std::size_t at, std::string message) const {
  return fault_at(program_.source, at, std::move(message));
}

Fault Parser::unexpected_token() const {
  switch (current().kind) {
    case TokenKind::end:
      return fault(current().at, "the template ends too early");
    case TokenKind::block_end:
    case TokenKind::output_end:
      return fault(current().at, "the tag ends where an expression is missing");
    default:
      return fault(current().at, concat({"unexpected \"", current().text, "\""}));
  }
}

bool Parser::is_op(std::string_view text) const {
  return current().kind == TokenKind::operation && current().text == text;
}
bool Parser::is_name(std::string_view text) const {
  return current().kind == TokenKind::name && current().text == text;
}
bool Parser::skip_op(std::string_view text) { return is_op(text) && ++next_ > 0; }
bool Parser::skip_name(std::string_view text) { return is_name(text) && ++next_ > 0; }

Parser::Done Parser::expect_op(std::string_view text) {
  if (skip_op(text)) return {};
  return std::unexpected(fault(current().at, concat({"expected \"", text, "\", found \"", current().text, "\""})));
}

std::expected<std::string, Fault> Parser::expect_name(std::string_view what) {
  if (current().kind != TokenKind::name) return std::unexpected(fault(current().at, concat({"expected ", what})));
  return std::string(tokens_[next_++].text);
}

Parser::Parsed Parser::finish(Expr expr) {
  const auto add = [&](const ExprPtr& part) {
    if (part) expr.depth = std::max(expr.depth, part->depth + 1);
  };
  for (const ExprPtr& part : expr.parts) add(part);
  for (const auto& [name, part] : expr.named) add(part);
  add(expr.rest);
  add(expr.named_rest);
  if (expr.depth > deepest_expression) return std::unexpected(fault(expr.at, "the expression is nested too deeply"));
  return std::make_unique<const Expr>(std::move(expr));
}

Parser::Parsed Parser::two(ExprKind kind, std::size_t at, ExprPtr a, ExprPtr b) {
  Expr out = expr_at(kind, at);
  out.parts.push_back(std::move(a));
  out.parts.push_back(std::move(b));
  return finish(std::move(out));
}

Parser::Parsed Parser::expression() {
  const Nested level(nesting_);
  if (nesting_ > deepest_nesting) return std::unexpected(fault(current().at, "the expression is nested too deeply"));
  ExprPtr value = TRY(no_condition());
  while (is_name("if")) {
    Expr out = expr_at(ExprKind::condition, current().at);
    ++next_;
    out.parts.push_back(TRY(no_condition()));
    out.parts.push_back(std::move(value));
    out.parts.push_back(nullptr);
    if (skip_name("else")) out.parts.back() = TRY(expression());
    value = TRY(finish(std::move(out)));
  }
  return value;
}

Parser::Parsed Parser::logical_or() {
  ExprPtr left = TRY(logical_and());
  while (is_name("or")) {
    const std::size_t at = tokens_[next_++].at;
    ExprPtr right = TRY(logical_and());
    left = TRY(two(ExprKind::logical_or, at, std::move(left), std::move(right)));
  }
  return left;
}

Parser::Parsed Parser::logical_and() {
  ExprPtr left = TRY(logical_not());
  while (is_name("and")) {
    const std::size_t at = tokens_[next_++].at;
    ExprPtr right = TRY(logical_not());
    left = TRY(two(ExprKind::logical_and, at, std::move(left), std::move(right)));
  }
  return left;
}

Parser::Parsed Parser::logical_not() {
  if (!is_name("not")) return comparison();
  const Nested level(nesting_);
  if (nesting_ > deepest_nesting) return std::unexpected(fault(current().at, "the expression is nested too deeply"));
  Expr out = expr_at(ExprKind::logical_not, tokens_[next_++].at);
  out.parts.push_back(TRY(logical_not()));
  return finish(std::move(out));
}

Parser::Parsed Parser::comparison() {
  static constexpr std::pair<std::string_view, Op> signs[] = {{"==", Op::eq}, {"!=", Op::ne}, {"<", Op::lt},
                                                              {"<=", Op::le}, {">", Op::gt},  {">=", Op::ge}};
  Expr out = expr_at(ExprKind::compare, current().at);
  out.parts.push_back(TRY(sum()));
  for (;;) {
    const auto* sign = std::ranges::find_if(signs, [&](const auto& each) { return is_op(each.first); });
    if (sign != std::end(signs)) {
      ++next_;
      out.ops.push_back(sign->second);
    } else if (skip_name("in")) {
      out.ops.push_back(Op::in);
    } else if (is_name("not") && ahead().kind == TokenKind::name && ahead().text == "in") {
      next_ += 2;
      out.ops.push_back(Op::not_in);
    } else {
      break;
    }
    out.parts.push_back(TRY(sum()));
  }
  if (out.ops.empty()) return std::move(out.parts.front());
  return finish(std::move(out));
}

Parser::Parsed Parser::chain(Parsed (Parser::*part)(), std::initializer_list<std::pair<std::string_view, Op>> ops) {
  ExprPtr left = TRY((this->*part)());
  for (;;) {
    const auto* op = std::ranges::find_if(ops, [&](const auto& each) { return is_op(each.first); });
    if (op == ops.end()) return left;
    Expr out = expr_at(ExprKind::binary, tokens_[next_++].at);
    out.ops.push_back(op->second);
    out.parts.push_back(std::move(left));
    out.parts.push_back(TRY((this->*part)()));
    left = TRY(finish(std::move(out)));
  }
}

Parser::Parsed Parser::sum() { return chain(&Parser::concatenation, {{"+", Op::add}, {"-", Op::sub}}); }

Parser::Parsed Parser::concatenation() {
  Expr out = expr_at(ExprKind::concat, current().at);
  out.parts.push_back(TRY(product()));
  while (skip_op("~")) out.parts.push_back(TRY(product()));
  if (out.parts.size() == 1) return std::move(out.parts.front());
  return finish(std::move(out));
}

Parser::Parsed Parser::product() {
  return chain(&Parser::power, {{"*", Op::mul}, {"/", Op::div}, {"//", Op::floor_div}, {"%", Op::mod}});
}

Parser::Parsed Parser::power() {
  ExprPtr left = TRY(unary());
  while (is_op("**")) {  // from left to right, as in Jinja2
    Expr out = expr_at(ExprKind::binary, tokens_[next_++].at);
    out.ops.push_back(Op::pow);
    out.parts.push_back(std::move(left));
    out.parts.push_back(TRY(unary()));
    left = TRY(finish(std::move(out)));
  }
  return left;
}

Parser::Parsed Parser::unary(bool with_filters) {
  const Nested level(nesting_);
  if (nesting_ > deepest_nesting) return std::unexpected(fault(current().at, "the expression is nested too deeply"));
  ExprPtr expr;
  if (is_op("-") || is_op("+")) {
    Expr out = expr_at(is_op("-") ? ExprKind::negate : ExprKind::plus, current().at);
    ++next_;
    out.parts.push_back(TRY(unary(false)));
    expr = TRY(finish(std::move(out)));
  } else {
    expr = TRY(primary());
  }
  expr = TRY(postfix(std::move(expr)));
  return with_filters ? filters_and_tests(std::move(expr)) : Parsed(std::move(expr));
}

Parser::Parsed Parser::primary() {
  const Token& token = current();
  switch (token.kind) {
    case TokenKind::name:
      return name();
    case TokenKind::string:
      return string();
    case TokenKind::integer:
    case TokenKind::real: {
      Expr out = expr_at(ExprKind::constant, token.at);
      out.constant = token.value;
      ++next_;
      return finish(std::move(out));
    }
    default:
      break;
  }
  if (skip_op("(")) {
    ExprPtr inner = TRY(tuple(true, true));
    TRY(expect_op(")"));
    return inner;
  }
  if (is_op("[")) return list();
  if (is_op("{")) return dict();
  return std::unexpected(unexpected_token());
}

Parser::Parsed Parser::name() {
  const Token& token = tokens_[next_++];
  Expr out = expr_at(ExprKind::constant, token.at);
  const std::string_view text = token.text;
  if (text == "true" || text == "True" || text == "false" || text == "False") {
    out.constant = text == "true" || text == "True";
  } else if (text == "none" || text == "None") {
    out.constant = None{};
  } else {
    out.kind = ExprKind::name;
    out.symbol = symbol(text);
    out.missing = Undefined{std::make_shared<const Text>(concat({"\"", text, "\" is undefined"}))};
    used_.insert(out.symbol);
  }
  return finish(std::move(out));
}

Parser::Parsed Parser::string() {
  Expr out = expr_at(ExprKind::constant, current().at);
  std::string text;
  while (current().kind == TokenKind::string) text += tokens_[next_++].value.bytes();
  out.constant = std::move(text);
  return finish(std::move(out));
}

Parser::Parsed Parser::list() {
  Expr out = expr_at(ExprKind::list, tokens_[next_++].at);
  while (!is_op("]")) {
    if (!out.parts.empty()) TRY(expect_op(","));
    if (is_op("]")) break;
    out.parts.push_back(TRY(expression()));
  }
  ++next_;
  return finish(std::move(out));
}

Parser::Parsed Parser::dict() {
  Expr out = expr_at(ExprKind::dict, tokens_[next_++].at);
  while (!is_op("}")) {
    if (!out.parts.empty()) TRY(expect_op(","));
    if (is_op("}")) break;
    out.parts.push_back(TRY(expression()));
    TRY(expect_op(":"));
    out.parts.push_back(TRY(expression()));
  }
  ++next_;
  return finish(std::move(out));
}

Parser::Parsed Parser::tuple(bool with_condition, bool in_parentheses, std::string_view end_name) {
  Expr out = expr_at(ExprKind::tuple, current().at);
  bool is_tuple = false;
  for (;;) {
    const TokenKind kind = current().kind;
    const bool at_end = kind == TokenKind::output_end || kind == TokenKind::block_end || is_op(")");
    if (at_end || (!end_name.empty() && is_name(end_name))) break;
    out.parts.push_back(TRY(with_condition ? expression() : no_condition()));
    if (!skip_op(",")) break;
    is_tuple = true;
  }
  if (!is_tuple && !out.parts.empty()) return std::move(out.parts.front());
  if (!is_tuple && !in_parentheses) return std::unexpected(unexpected_token());
  return finish(std::move(out));
}

}  // namespace stackgate::jinja
