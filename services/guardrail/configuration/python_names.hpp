// Which actions, filters and parsers Python code defines, read from its text without running it. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/configuration/configuration.hpp"

namespace stackgate::guardrail {

struct PythonNames {
  std::vector<PythonAction> actions{};
  bool has_init = false;  // def init(app)
  bool dynamic = false;   // registers actions under names that only running it tells
  PromptCode prompts{};
  struct Unserved {
    std::string name;  // "register_filter"
    std::uint32_t line = 0;
  };
  std::vector<Unserved> unserved{};  // calls that register what this service does not take from code, at most 20
};

/// `@action`, `@action(name="x")` and `register_action(f, "x")` with texts as names, wherever they stand outside of
/// texts and comments. Of a class the name is that of the class.
PythonNames python_names(std::string_view text);

}  // namespace stackgate::guardrail
