// Tokens into the tree of ast.hpp; the grammar is that of jinja2/parser.py.
#pragma once
#include <expected>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "services/kit/jinja/ast.hpp"
#include "services/kit/jinja/nested.hpp"
#include "services/kit/jinja/template.hpp"
#include "services/kit/jinja/token.hpp"

namespace stackgate::jinja {

class Parser {
 public:
  using Parsed = std::expected<ExprPtr, Fault>;
  using Parts = std::expected<std::vector<ExprPtr>, Fault>;
  using Done = std::expected<void, Fault>;

  /// `program` has source and environment.
  explicit Parser(Program& program);
  Done template_body(std::vector<Token> tokens);
  Done formula(std::vector<Token> tokens);

 private:
  // tokens
  const Token& current() const { return tokens_[next_]; }
  const Token& ahead() const { return tokens_[std::min(next_ + 1, tokens_.size() - 1)]; }
  bool is_op(std::string_view text) const;
  bool is_name(std::string_view text) const;
  bool skip_op(std::string_view text);
  bool skip_name(std::string_view text);
  Done expect_op(std::string_view text);
  Done expect_end_of_tag();
  std::expected<std::string, Fault> expect_name(std::string_view what);
  Fault unexpected_token() const;
  Fault fault(std::size_t at, std::string message) const;

  // expressions, from the loosest to the tightest binding
  Parsed expression();
  Parsed no_condition() { return logical_or(); }
  Parsed logical_or();
  Parsed logical_and();
  Parsed logical_not();
  Parsed comparison();
  Parsed sum();
  Parsed concatenation();
  Parsed product();
  Parsed power();
  Parsed unary(bool with_filters = true);
  Parsed postfix(ExprPtr expr);
  Parsed filters_and_tests(ExprPtr expr);
  Parsed primary();
  Parsed name();
  Parsed string();
  Parsed list();
  Parsed dict();
  Parsed tuple(bool with_condition, bool in_parentheses, std::string_view end_name = {});
  Parsed subscript(ExprPtr expr);
  Parsed subscript_part();
  Parsed call(ExprPtr callee);
  Parsed filter(ExprPtr subject);
  Parsed filters(ExprPtr subject);
  Parsed test(ExprPtr subject);
  Done arguments(Expr& call);
  Done argument(Expr& call);
  Parsed finish(Expr expr);
  Parsed two(ExprKind kind, std::size_t at, ExprPtr a, ExprPtr b);
  Parsed chain(Parsed (Parser::*part)(), std::initializer_list<std::pair<std::string_view, Op>> ops);

  // statements
  std::expected<Body, Fault> body(std::initializer_list<std::string_view> ends);
  std::expected<Stmt, Fault> statement();
  std::expected<Stmt, Fault> output();
  std::expected<Stmt, Fault> branch(Stmt stmt);
  std::expected<Stmt, Fault> loop(Stmt stmt);
  std::expected<Stmt, Fault> set(Stmt stmt);
  std::expected<Stmt, Fault> macro(Stmt stmt);
  std::expected<Stmt, Fault> call_block(Stmt stmt);
  std::expected<Stmt, Fault> filter_block(Stmt stmt);
  std::expected<Stmt, Fault> with(Stmt stmt);
  std::expected<Stmt, Fault> generation(Stmt stmt);
  std::expected<Stmt, Fault> print(Stmt stmt);
  std::expected<Stmt, Fault> leave(Stmt stmt);
  std::expected<Stmt, Fault> next(Stmt stmt);
  Done end_block(std::string_view tag);
  Done parameters(MacroCode& code);
  Done macro_body(MacroCode& code, std::string_view end);
  std::expected<Target, Fault> target(bool with_namespace, bool with_tuple);
  std::expected<Target, Fault> one_target();
  std::expected<Symbol, Fault> assigned_name();

  Symbol symbol(std::string_view name);
  Done check_functions() const;

  Program& program_;
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  std::size_t nesting_ = 0;
  std::size_t loops_ = 0;  // around this place, within the macro
  std::unordered_map<std::string, Symbol> symbols_;
  std::set<Symbol> assigned_;
  std::set<Symbol> asked_;  // "is defined"
  std::set<Symbol> used_;   // within the macro
  std::vector<std::pair<Symbol, std::size_t>> called_;
};

}  // namespace stackgate::jinja
