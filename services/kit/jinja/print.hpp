// Values as texts: Python's str() and repr(), and json.dumps().
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "services/kit/jinja/machine.hpp"

namespace stackgate::jinja {

Status append_str(Machine& machine, std::string& out, const Value& value);
Status append_repr(Machine& machine, std::string& out, const Value& value);
std::expected<std::string, Fault> str(Machine& machine, const Value& value);

/// The shortest digits that read back as the same number, with a point or an exponent: "1.0", "1e-05", "inf".
void append_real(std::string& out, double value);
void append_quoted(std::string& out, std::string_view text);

struct JsonStyle {
  bool ensure_ascii = false;
  bool sort_keys = false;
  std::optional<std::string> indent{};
  std::string item_separator = ", ";
  std::string key_separator = ": ";
};
Status append_json(Machine& machine, std::string& out, const Value& value, const JsonStyle& style);

}  // namespace stackgate::jinja
