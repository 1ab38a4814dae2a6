#include "tests/support/paths.hpp"

namespace stackgate::test {

std::filesystem::path source_dir() { return STACKGATE_SOURCE_DIR; }
std::filesystem::path binary_dir() { return STACKGATE_BINARY_DIR; }

}  // namespace stackgate::test
