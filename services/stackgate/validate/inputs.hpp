// Finds and reads what the command line names.
#pragma once
#include <iosfwd>
#include <string>
#include <vector>

namespace stackgate {

struct Input {
  std::string name;     // as messages show it
  std::string text;     // empty when it could not be read
  std::string problem;  // "cannot be read: …"; empty when it was read
};

/// Files as they are named; of a directory every .yaml, .yml and .json file below, by name, without hidden
/// directories and without following links to directories; "-" is `in`. No file is read twice, whatever its paths. What
/// cannot be read is among them with its problem, a directory too.
std::vector<Input> read_inputs(const std::vector<std::string>& paths, std::istream& in);

}  // namespace stackgate
