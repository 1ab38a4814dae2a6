#include "services/kit/jinja/print.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/jinja/unicode.hpp"

namespace stackgate::jinja {
namespace {

void append_integer(std::string& out, std::int64_t value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, std::end(digits), value).ptr);
}

Status append_items(Machine& machine, std::string& out, const std::vector<Value>& items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ", ";
    TRY(append_repr(machine, out, items[i]));
  }
  return {};
}

Status append_list(Machine& machine, std::string& out, const List& list) {
  if (list.form == Form::iterator) {
    out += "<generator object>";
    return {};
  }
  if (list.form == Form::range) {
    const auto& items = list.items;
    const std::int64_t first = items.empty() ? 0 : *items.front().integer();
    const std::int64_t step = items.size() < 2 ? 1 : *items[1].integer() - first;
    const std::int64_t end = items.empty() ? 0 : *items.back().integer() + (step > 0 ? 1 : -1);
    out += fmt::format("range({}, {}", first, end);
    if (step != 1) out += fmt::format(", {}", step);
    out += ')';
    return {};
  }
  const bool is_tuple = list.form == Form::tuple;
  const bool is_view = list.form != Form::list && !is_tuple;
  if (is_view) out.append(Value(std::make_shared<const List>(std::vector<Value>{}, list.form)).type_name()).append("(");
  out += is_tuple ? '(' : '[';
  TRY(append_items(machine, out, list.items));
  if (is_tuple && list.items.size() == 1) out += ',';
  out += is_tuple ? ')' : ']';
  if (is_view) out += ')';
  return {};
}

Status append_dict(Machine& machine, std::string& out, const Dict& dict) {
  out += '{';
  for (std::size_t i = 0; i < dict.items.size(); ++i) {
    if (i > 0) out += ", ";
    TRY(append_repr(machine, out, dict.items[i].first));
    out += ": ";
    TRY(append_repr(machine, out, dict.items[i].second));
  }
  out += '}';
  return {};
}

void append_escaped(std::string& out, char32_t point, char quote) {
  const auto code = static_cast<std::uint32_t>(point);
  if (code == static_cast<unsigned char>(quote) || code == '\\') {
    out += '\\';
    out += static_cast<char>(code);
  } else if (code == '\n') {
    out += "\\n";
  } else if (code == '\r') {
    out += "\\r";
  } else if (code == '\t') {
    out += "\\t";
  } else if (is_printable(point)) {
    append_point(out, point);
  } else if (code < 0x100) {
    out += fmt::format("\\x{:02x}", code);
  } else {
    out += code < 0x10000 ? fmt::format("\\u{:04x}", code) : fmt::format("\\U{:08x}", code);
  }
}

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
  const char quote = text.contains('\'') && !text.contains('"') ? '"' : '\'';
  out += quote;
  while (!text.empty()) {
    append_escaped(out, point_at(text), quote);
    text.remove_prefix(point_size(text));
  }
  out += quote;
}

void append_real(std::string& out, double value) {
  if (std::isnan(value)) out += "nan";
  if (std::isinf(value)) out += value < 0 ? "-inf" : "inf";
  if (!std::isfinite(value)) return;
  char buffer[32];
  const std::string_view text(
      buffer, std::to_chars(buffer, std::end(buffer), std::abs(value), std::chars_format::scientific).ptr);
  const auto mark = text.find('e');
  std::string digits(text.substr(0, mark));
  std::erase(digits, '.');
  int exponent = 0;
  const std::string_view power = text.substr(mark + (text[mark + 1] == '+' ? 2 : 1));
  std::from_chars(power.data(), power.data() + power.size(), exponent);
  if (std::signbit(value)) out += '-';
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (digits.size() > 1) out.append(".").append(digits, 1);
    out += fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
  } else if (exponent < 0) {
    out.append("0.").append(static_cast<std::size_t>(-exponent - 1), '0').append(digits);
  } else {
    const auto point = static_cast<std::size_t>(exponent) + 1;
    if (digits.size() < point + 1) digits.append(point + 1 - digits.size(), '0');
    out.append(digits, 0, point).append(".").append(digits, point);
  }
}

Status append_repr(Machine& machine, std::string& out, const Value& value) {
  TRY(machine.spend());
  TRY(machine.fits(out.size()));
  if (value.text() != nullptr) {
    TRY(machine.spend_on(value.bytes().size() * 4));
    append_quoted(out, value.bytes());
  } else if (const auto* list = value.list()) {
    return append_list(machine, out, **list);
  } else if (const auto* dict = value.dict()) {
    return append_dict(machine, out, **dict);
  } else if (value.is_undefined()) {
    out += "Undefined";
  } else {
    return append_str(machine, out, value);
  }
  return {};
}

Status append_str(Machine& machine, std::string& out, const Value& value) {
  if (value.text() != nullptr) {
    TRY(machine.fits(out.size() + value.bytes().size()));
    out += value.bytes();
  } else if (value.is_undefined()) {
    if (machine.environment().strict) return undefined_fault(value);
  } else if (value.is_none()) {
    out += "None";
  } else if (const auto* flag = value.boolean()) {
    out += *flag ? "True" : "False";
  } else if (const auto* integer = value.integer()) {
    append_integer(out, *integer);
  } else if (const auto* real = value.real()) {
    append_real(out, *real);
  } else if (const auto* object = value.object()) {
    out += (*object)->print();
  } else {
    return append_repr(machine, out, value);
  }
  return {};
}

std::expected<std::string, Fault> str(Machine& machine, const Value& value) {
  std::string out;
  TRY(append_str(machine, out, value));
  return out;
}

}  // namespace stackgate::jinja
