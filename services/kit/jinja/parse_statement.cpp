#include <algorithm>

#include "services/kit/base/concat.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/jinja/parser.hpp"

namespace stackgate::jinja {
namespace {

constexpr std::string_view fixed_names[] = {"loop", "caller", "varargs", "kwargs"};

}  // namespace

Parser::Parser(Program& program) : program_(program) {
  for (const std::string_view name : fixed_names) assigned_.insert(symbol(name));
}

Symbol Parser::symbol(std::string_view name) {
  const auto [at, is_new] = symbols_.try_emplace(std::string(name), static_cast<Symbol>(program_.names.size()));
  if (is_new) program_.names.emplace_back(name);
  return at->second;
}

Parser::Done Parser::check_functions() const {
  for (const auto& [symbol, at] : called_) {
    const std::string& name = program_.names[symbol];
    if (assigned_.contains(symbol) || asked_.contains(symbol) || find_function(name, *program_.environment)) continue;
    return std::unexpected(
        fault(at, concat({"there is no function \"", name, "\"", suggest_function(name, *program_.environment)})));
  }
  return {};
}

Parser::Done Parser::template_body(std::vector<Token> tokens) {
  tokens_ = std::move(tokens);
  program_.body = TRY(body({}));
  return check_functions();
}

Parser::Done Parser::formula(std::vector<Token> tokens) {
  tokens_ = std::move(tokens);
  program_.formula = TRY(expression());
  if (current().kind != TokenKind::end) return std::unexpected(unexpected_token());
  return check_functions();
}

Parser::Done Parser::expect_end_of_tag() {
  if (current().kind != TokenKind::block_end) return std::unexpected(unexpected_token());
  ++next_;
  return {};
}

// Statements up to one of the end tags, whose name is the current token then; with no ends up to the template's end.
std::expected<Body, Fault> Parser::body(std::initializer_list<std::string_view> ends) {
  const Nested level(nesting_);
  if (nesting_ > deepest_nesting) return std::unexpected(fault(current().at, "the blocks are nested too deeply"));
  Body out;
  for (;;) {
    const Token& token = current();
    if (token.kind == TokenKind::end) {
      if (ends.size() == 0) return out;
      return std::unexpected(fault(token.at, concat({"{% ", *(ends.end() - 1), " %} is missing"})));
    }
    if (token.kind == TokenKind::text) {
      out.push_back({.kind = StmtKind::text, .at = token.at, .text = std::string(token.text)});
      ++next_;
    } else if (token.kind == TokenKind::output_begin) {
      out.push_back(TRY(output()));
    } else {
      ++next_;  // block_begin
      if (std::ranges::any_of(ends, [&](std::string_view end) { return is_name(end); })) return out;
      out.push_back(TRY(statement()));
    }
  }
}

std::expected<Stmt, Fault> Parser::output() {
  Stmt stmt{.kind = StmtKind::output, .at = tokens_[next_++].at};
  stmt.expr = TRY(tuple(true, false));
  if (current().kind != TokenKind::output_end) return std::unexpected(unexpected_token());
  ++next_;
  return stmt;
}

std::expected<Stmt, Fault> Parser::statement() {
  using Read = std::expected<Stmt, Fault> (Parser::*)(Stmt);
  static constexpr std::pair<std::string_view, Read> tags[] = {
      {"if", &Parser::branch},   {"for", &Parser::loop},        {"set", &Parser::set},
      {"macro", &Parser::macro}, {"call", &Parser::call_block}, {"filter", &Parser::filter_block},
      {"with", &Parser::with},   {"print", &Parser::print},     {"generation", &Parser::generation},
      {"break", &Parser::leave}, {"continue", &Parser::next},
  };
  const Token& token = current();
  if (token.kind != TokenKind::name) return std::unexpected(fault(token.at, "expected the name of a tag"));
  const auto* tag = std::ranges::find(tags, token.text, &std::pair<std::string_view, Read>::first);
  if (tag != std::end(tags)) {
    ++next_;
    return (this->*tag->second)(Stmt{.at = token.at});
  }
  std::vector<std::string_view> known;
  for (const auto& each : tags) known.push_back(each.first);
  std::string what = concat({"there is no tag \"", token.text, "\"", suggest(token.text, known)});
  if (token.text.starts_with("end") || token.text == "else" || token.text == "elif")
    what = concat({"\"", token.text, "\" closes or continues nothing here"});
  return std::unexpected(fault(token.at, std::move(what)));
}

std::expected<Stmt, Fault> Parser::branch(Stmt stmt) {
  stmt.kind = StmtKind::branch;
  for (;;) {
    ExprPtr condition = TRY(tuple(false, false));
    TRY(expect_end_of_tag());
    Body then = TRY(body({"elif", "else", "endif"}));
    stmt.branches.emplace_back(std::move(condition), std::move(then));
    if (skip_name("elif")) continue;
    if (skip_name("else")) {
      TRY(expect_end_of_tag());
      Body last = TRY(body({"endif"}));
      stmt.branches.emplace_back(nullptr, std::move(last));
    }
    ++next_;
    TRY(expect_end_of_tag());
    return stmt;
  }
}

std::expected<Stmt, Fault> Parser::loop(Stmt stmt) {
  stmt.kind = StmtKind::loop;
  stmt.target = TRY(target(false, true));
  if (!skip_name("in")) return std::unexpected(fault(current().at, "expected \"in\""));
  stmt.expr = TRY(tuple(false, false, "recursive"));
  if (skip_name("if")) stmt.condition = TRY(expression());
  if (is_name("recursive"))
    return std::unexpected(fault(current().at, "recursive loops are not supported; write a macro that calls itself"));
  TRY(expect_end_of_tag());
  ++loops_;
  auto inside = body({"else", "endfor"});
  --loops_;
  stmt.body = TRY(std::move(inside));
  if (skip_name("else")) {
    TRY(expect_end_of_tag());
    stmt.otherwise = TRY(body({"endfor"}));
  }
  ++next_;
  TRY(expect_end_of_tag());
  return stmt;
}

std::expected<Symbol, Fault> Parser::assigned_name() {
  const std::size_t at = current().at;
  const std::string name = TRY(expect_name("a name"));
  static constexpr std::string_view constants[] = {"true", "True", "false", "False", "none", "None"};
  if (std::ranges::find(constants, name) != std::end(constants))
    return std::unexpected(fault(at, concat({"\"", name, "\" cannot be assigned to"})));
  const Symbol out = symbol(name);
  assigned_.insert(out);
  return out;
}

std::expected<Target, Fault> Parser::one_target() {
  Target out;
  if (skip_op("(")) {
    const Nested level(nesting_);
    if (nesting_ > deepest_nesting) return std::unexpected(fault(current().at, "nested too deeply"));
    out = TRY(target(false, true));
    TRY(expect_op(")"));
    return out;
  }
  out.symbol = TRY(assigned_name());
  return out;
}

std::expected<Target, Fault> Parser::target(bool with_namespace, bool with_tuple) {
  Target out;
  if (with_namespace && ahead().kind == TokenKind::operation && ahead().text == ".") {
    const std::string name = TRY(expect_name("a name"));
    ++next_;
    out.symbol = symbol(name);
    out.attribute = TRY(expect_name("the name of an attribute"));
    return out;
  }
  out = TRY(one_target());
  if (!with_tuple || !is_op(",")) return out;
  Target several;
  several.is_tuple = true;
  several.parts.push_back(std::move(out));
  while (skip_op(",")) {
    if (current().kind != TokenKind::name && !is_op("(")) break;
    if (is_name("in")) break;
    several.parts.push_back(TRY(one_target()));
  }
  return several;
}

std::expected<Stmt, Fault> Parser::set(Stmt stmt) {
  stmt.target = TRY(target(true, true));
  if (skip_op("=")) {
    stmt.kind = StmtKind::set;
    stmt.expr = TRY(tuple(true, false));
    TRY(expect_end_of_tag());
    return stmt;
  }
  stmt.kind = StmtKind::set_block;
  if (is_op("|")) stmt.expr = TRY(filters(nullptr));
  TRY(expect_end_of_tag());
  stmt.body = TRY(body({"endset"}));
  TRY(end_block("endset"));
  return stmt;
}

Parser::Done Parser::end_block(std::string_view tag) {
  if (!skip_name(tag)) return std::unexpected(unexpected_token());
  return expect_end_of_tag();
}

std::expected<Stmt, Fault> Parser::filter_block(Stmt stmt) {
  stmt.kind = StmtKind::filter_block;
  ExprPtr first = TRY(filter(nullptr));
  stmt.expr = TRY(filters(std::move(first)));
  TRY(expect_end_of_tag());
  stmt.body = TRY(body({"endfilter"}));
  TRY(end_block("endfilter"));
  return stmt;
}

std::expected<Stmt, Fault> Parser::with(Stmt stmt) {
  stmt.kind = StmtKind::with;
  while (current().kind != TokenKind::block_end) {
    if (!stmt.assignments.empty()) TRY(expect_op(","));
    Target name = TRY(target(false, false));
    TRY(expect_op("="));
    ExprPtr value = TRY(expression());
    stmt.assignments.emplace_back(std::move(name), std::move(value));
  }
  ++next_;
  stmt.body = TRY(body({"endwith"}));
  TRY(end_block("endwith"));
  return stmt;
}

std::expected<Stmt, Fault> Parser::generation(Stmt stmt) {
  stmt.kind = StmtKind::generation;
  TRY(expect_end_of_tag());
  const std::size_t loops = std::exchange(loops_, 0);
  auto inside = body({"endgeneration"});
  loops_ = loops;
  stmt.body = TRY(std::move(inside));
  TRY(end_block("endgeneration"));
  return stmt;
}

std::expected<Stmt, Fault> Parser::print(Stmt stmt) {
  stmt.kind = StmtKind::output;
  stmt.expr = TRY(tuple(true, false));
  TRY(expect_end_of_tag());
  return stmt;
}

std::expected<Stmt, Fault> Parser::leave(Stmt stmt) {
  stmt.kind = StmtKind::leave;
  if (loops_ == 0) return std::unexpected(fault(stmt.at, "\"break\" outside of a loop"));
  TRY(expect_end_of_tag());
  return stmt;
}

std::expected<Stmt, Fault> Parser::next(Stmt stmt) {
  stmt.kind = StmtKind::next;
  if (loops_ == 0) return std::unexpected(fault(stmt.at, "\"continue\" outside of a loop"));
  TRY(expect_end_of_tag());
  return stmt;
}

}  // namespace stackgate::jinja
