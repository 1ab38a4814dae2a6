// One field of a format: width, precision, sign and kind, shared by both ways to format.
#pragma once
#include <string>
#include <string_view>

#include "services/kit/jinja/machine.hpp"

namespace stackgate::jinja {

/// Python's format specification: [[fill]align][sign][#][0][width][,][.precision][type].
struct Field {
  std::string fill = " ";
  char align = '\0';  // '<', '>', '^', '='
  char sign = '-';    // '+', ' '
  bool alternate = false;
  std::size_t width = 0;
  char separator = '\0';
  int precision = -1;
  char type = '\0';
};

std::expected<Field, Fault> read_field(std::string_view text);
/// A number as the field's type says. The type fits the value or it is a fault.
std::expected<std::string, Fault> format_number(const Field& field, const Value& value);
/// Filled up to the width, which the machine's limits bound.
Status append_field(Machine& machine, std::string& out, const Field& field, std::string_view text, bool is_number);

}  // namespace stackgate::jinja
