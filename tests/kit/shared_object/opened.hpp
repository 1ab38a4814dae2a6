// The entry of the shared objects that the test opens.
#pragma once
#include <string_view>

namespace stackgate::test {

struct OpenedEntry {
  static constexpr const char* symbol = "stackgate_opened_entry";
  std::string_view build;
  int (*twice)(int) = nullptr;
};

}  // namespace stackgate::test
