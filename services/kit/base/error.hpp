// The error half of std::expected in the kit: one sentence for a person, saying what failed and, where known, the cure.
#pragma once
#include <string>

namespace stackgate {

struct Error {
  std::string message;
};

}  // namespace stackgate
