#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "services/kit/base/number.hpp"
#include "services/kit/sql/database.hpp"

namespace stackgate::sql {
namespace {

template <typename Number>
Number number_of_text(const std::string& text) {
  if (const auto number = to_number<Number>(text)) return *number;
  throw std::logic_error("a column that is read as a number holds another text");
}

}  // namespace

std::int64_t Row::integer(std::size_t column) const {
  const Value& value = values_.at(column);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* text = std::get_if<std::string>(&value)) return number_of_text<std::int64_t>(*text);
  if (const auto* real = std::get_if<double>(&value)) {
    if (std::trunc(*real) != *real || std::fabs(*real) > 9e15) {
      throw std::logic_error("a column that is read as an integer holds a fraction");
    }
    return static_cast<std::int64_t>(*real);
  }
  return 0;
}

double Row::real(std::size_t column) const {
  const Value& value = values_.at(column);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* text = std::get_if<std::string>(&value)) return number_of_text<double>(*text);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return 0;
}

std::string Row::text(std::size_t column) const {
  const Value& value = values_.at(column);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  return {};
}

}  // namespace stackgate::sql
