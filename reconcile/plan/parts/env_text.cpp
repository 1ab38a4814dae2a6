#include "reconcile/plan/parts/env_text.hpp"

#include <string>

namespace stackgate::reconcile::parts {

EnvVar env_text(std::string_view name, std::string_view text) {
  std::string literal;
  for (const char c : text) literal.append(c == '$' ? 2 : 1, c);
  return env_value(name, literal);
}

}  // namespace stackgate::reconcile::parts
