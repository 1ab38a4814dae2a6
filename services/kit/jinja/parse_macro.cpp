#include <algorithm>

#include "services/kit/base/concat.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/jinja/parser.hpp"

namespace stackgate::jinja {

Parser::Done Parser::parameters(MacroCode& code) {
  TRY(expect_op("("));
  while (!is_op(")")) {
    if (!code.parameters.empty()) TRY(expect_op(","));
    if (is_op(")")) break;
    const std::size_t at = current().at;
    Parameter parameter;
    parameter.symbol = TRY(assigned_name());
    parameter.name = program_.names[parameter.symbol];
    if (std::ranges::find(code.parameters, parameter.name, &Parameter::name) != code.parameters.end())
      return std::unexpected(fault(at, concat({"the parameter \"", parameter.name, "\" is there twice"})));
    if (skip_op("=")) {
      parameter.fallback = TRY(expression());
    } else if (!code.parameters.empty() && code.parameters.back().fallback) {
      return std::unexpected(fault(at, "a parameter without a default stands behind one with a default"));
    }
    code.parameters.push_back(std::move(parameter));
  }
  ++next_;
  return {};
}

// From behind the tag's parameters to the end of the closing tag.
Parser::Done Parser::macro_body(MacroCode& code, std::string_view end) {
  TRY(expect_end_of_tag());
  const std::set<Symbol> around = std::exchange(used_, {});
  const std::size_t loops = std::exchange(loops_, 0);
  auto inside = body({end});
  loops_ = loops;
  const auto uses = [this](Fixed name) { return used_.contains(static_cast<Symbol>(name)); };
  code.takes_rest = uses(Fixed::varargs);
  code.takes_named_rest = uses(Fixed::kwargs);
  code.takes_caller = uses(Fixed::caller);
  used_.insert(around.begin(), around.end());
  code.body = TRY(std::move(inside));
  return end_block(end);
}

std::expected<Stmt, Fault> Parser::macro(Stmt stmt) {
  stmt.kind = StmtKind::macro;
  auto code = std::make_shared<MacroCode>();
  stmt.target.symbol = TRY(assigned_name());
  code->name = program_.names[stmt.target.symbol];
  TRY(parameters(*code));
  TRY(macro_body(*code, "endmacro"));
  stmt.macro = std::move(code);
  return stmt;
}

std::expected<Stmt, Fault> Parser::call_block(Stmt stmt) {
  stmt.kind = StmtKind::call_block;
  auto code = std::make_shared<MacroCode>();
  code->name = "caller";
  if (is_op("(")) TRY(parameters(*code));
  stmt.expr = TRY(expression());
  if (stmt.expr->kind != ExprKind::call) return std::unexpected(fault(stmt.at, "expected a call behind \"call\""));
  TRY(macro_body(*code, "endcall"));
  stmt.macro = std::move(code);
  return stmt;
}

}  // namespace stackgate::jinja
