// Where a command writes to, so that tests can read it.
#pragma once
#include <cstddef>
#include <istream>
#include <ostream>

namespace stackgate {

struct Console {
  std::ostream& out;
  std::ostream& err;
  std::istream& in;
  bool colour = false;       // `out` is a terminal, and NO_COLOR is not set
  std::size_t columns = 80;  // of the terminal, if it is one
};

}  // namespace stackgate
