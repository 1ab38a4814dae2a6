// The rules of injection.hpp, as a table.
#pragma once
#include <span>
#include <string_view>

#include "services/guardrail/detect/injection.hpp"

namespace stackgate::guardrail {

struct InjectionRule {
  InjectionKind kind;
  std::string_view name;
  std::string_view expression;  // RE2, without regard to case; ^ and $ are a line's
};
std::span<const InjectionRule> injection_rules();

}  // namespace stackgate::guardrail
