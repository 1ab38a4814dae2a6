// Why a template cannot be read or rendered: the error half of everything in this folder.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace stackgate::jinja {

enum class FaultKind : std::uint8_t {
  syntax,     // parse only: the template is wrong, whatever the context
  undefined,  // something of an undefined value was asked for
  type,       // an operation that its operands do not have; also division by zero and numbers that are no numbers
  limit,      // too many steps, too much output or memory, too deep; integers of more than 64 bits
  raised,     // the template called raise_exception(); `message` is its text and nothing else
};

/// `line` and `column` count from 1; columns count bytes. 0: not in the template (the context, a limit of the whole).
struct Fault {
  FaultKind kind = FaultKind::syntax;
  std::string message;  // what is wrong and, where known, the cure
  std::size_t line = 0;
  std::size_t column = 0;
};

/// "line 3, column 7: there is no filter \"tojsn\"; did you mean \"tojson\"?"
std::string describe(const Fault& fault);

}  // namespace stackgate::jinja
