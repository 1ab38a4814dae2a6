// What the parser makes of a template: names are numbers, filters and tests are found, constants are values.
// Immutable; shared by all renderings.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "services/kit/jinja/builtins.hpp"
#include "services/kit/jinja/value.hpp"

namespace stackgate::jinja {

struct Environment;
using Symbol = std::uint32_t;  // an index into Program::names

enum class Op : std::uint8_t { add, sub, mul, div, floor_div, mod, pow, eq, ne, lt, le, gt, ge, in, not_in };

struct Expr;
using ExprPtr = std::unique_ptr<const Expr>;

enum class ExprKind : std::uint8_t {
  constant,
  name,
  list,       // parts
  tuple,      // parts
  dict,       // parts: key, value, key, value
  attribute,  // parts[0] . constant
  item,       // parts[0] [parts[1]]
  slice,      // three parts, each may be nullptr; only as parts[1] of item
  call,       // parts[0] is called with the others, named, rest, named_rest
  filter,     // parts[0] (nullptr: the block's text), arguments as of a call
  test,       // as filter
  condition,  // parts: condition, then, else (nullptr: undefined)
  negate,
  plus,
  logical_not,
  logical_and,
  logical_or,
  compare,  // parts and, between them, ops
  binary,   // two parts, ops[0]
  concat,   // parts
};

struct Expr {
  ExprKind kind = ExprKind::constant;
  std::uint32_t at = 0;     // offset in the source
  std::uint32_t depth = 1;  // levels below and with this one
  Symbol symbol = 0;        // name
  Value constant;           // constant; attribute, late filter: its name
  Value missing;            // name, attribute: the undefined value when there is none
  std::vector<ExprPtr> parts;
  std::vector<std::pair<std::string, ExprPtr>> named;
  ExprPtr rest;        // *rest
  ExprPtr named_rest;  // **named_rest
  std::vector<Op> ops;
  Callee callee;  // filter, test
};

/// What is assigned to: a name, names in parentheses, or an attribute of a namespace.
struct Target {
  Symbol symbol = 0;
  std::string attribute;      // ns.attribute
  std::vector<Target> parts;  // a, b
  bool is_tuple = false;
};

struct Stmt;
using Body = std::vector<Stmt>;

struct Parameter {
  Symbol symbol = 0;
  std::string name;
  ExprPtr fallback;  // nullptr: undefined
};

/// The body of a macro, and of the block that a call passes on.
struct MacroCode {
  std::string name;
  std::vector<Parameter> parameters;
  bool takes_rest = false;        // its body names `varargs`
  bool takes_named_rest = false;  // `kwargs`
  bool takes_caller = false;      // `caller`
  std::vector<Stmt> body;
};

enum class StmtKind : std::uint8_t {
  text,          // text
  output,        // expr
  branch,        // if: branches, and the last one without a condition for else
  loop,          // target in expr if condition: body; none: otherwise
  set,           // target = expr
  set_block,     // target = body through the filter expr, if any
  macro,         // symbol = macro
  call_block,    // expr is the call; macro its body
  filter_block,  // body through expr
  with,          // assignments, body
  generation,    // body
  leave,         // break
  next,          // continue
};

struct Stmt {
  StmtKind kind = StmtKind::text;
  std::uint32_t at = 0;
  std::string text{};
  Target target{};
  ExprPtr expr{};
  ExprPtr condition{};
  std::vector<std::pair<ExprPtr, Body>> branches{};
  std::vector<std::pair<Target, ExprPtr>> assignments{};
  Body body{};
  Body otherwise{};
  std::shared_ptr<const MacroCode> macro{};
};

/// Names that the interpreter itself gives a meaning to; the first symbols of each program.
enum class Fixed : Symbol { loop, caller, varargs, kwargs };

struct Program {
  std::vector<std::string> names;  // by symbol
  std::vector<std::string> late_filters;
  std::string source;  // line ends are '\n'
  std::shared_ptr<const Environment> environment;
  Body body;        // of a template
  ExprPtr formula;  // of an expression
};

}  // namespace stackgate::jinja
