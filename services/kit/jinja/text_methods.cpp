#include <algorithm>
#include <array>

#include "services/kit/base/try.hpp"
#include "services/kit/jinja/format.hpp"
#include "services/kit/jinja/format_field.hpp"
#include "services/kit/jinja/text_work.hpp"
#include "services/kit/jinja/unicode.hpp"

namespace stackgate::jinja {
namespace {

enum class Side : std::uint8_t { both, left, right };

template <Side side>
Result strip(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("strip", arguments, {"chars"}));
  const bool has_set = given[0] != nullptr && !given[0]->is_none();
  const std::string_view set = has_set ? TRY(given.text(0)) : std::string_view();
  std::string_view text = subject.bytes();
  TRY(machine.spend_on(text.size() * (1 + set.size() / 16)));
  // A set's bytes and a text's could match across characters only where one of them is no UTF-8.
  if (side != Side::right) text = strip_left(text, has_set ? &set : nullptr);
  if (side != Side::left) text = strip_right(text, has_set ? &set : nullptr);
  if (text.size() == subject.bytes().size()) return subject;
  return machine.text(std::string(text));
}

template <char align>
Result justify(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("center", arguments, {"width", "fillchar"}, 1));
  Field field;
  field.width = static_cast<std::size_t>(std::max<std::int64_t>(TRY(given.integer(0, 0)), 0));
  field.fill = TRY(given.text(1, " "));
  field.align = align;
  if (count_points(field.fill) != 1) return type_fault("the filling is one character");
  std::string out;
  // Python's center() puts the odd character to the left when the width is odd.
  const std::size_t length = (*subject.text())->length();
  if (align == '^' && field.width > length && (field.width - length) % 2 == 1 && field.width % 2 == 1) {
    out += field.fill;
    --field.width;
  }
  TRY(append_field(machine, out, field, subject.bytes(), false));
  return machine.text(std::move(out));
}

Result zfill(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("zfill", arguments, {"width"}, 1));
  Field field;
  field.width = static_cast<std::size_t>(std::max<std::int64_t>(TRY(given.integer(0, 0)), 0));
  field.fill = "0";
  field.align = '=';
  std::string out;
  TRY(append_field(machine, out, field, subject.bytes(), true));
  return machine.text(std::move(out));
}

Result format(Machine& machine, const Value& subject, Arguments& arguments) {
  return brace_format(machine, subject.bytes(), arguments);
}

using OfPoint = bool (*)(char32_t);
bool is_alnum(char32_t point) { return is_alpha(point) || is_decimal(point); }
bool is_ascii_point(char32_t point) { return point < 0x80; }

template <OfPoint holds, bool of_empty>
Result all_points(Machine& machine, const Value& subject, Arguments&) {
  std::string_view text = subject.bytes();
  TRY(machine.spend_on(text.size() * 4));
  if (text.empty()) return Value(of_empty);
  for (; !text.empty(); text.remove_prefix(point_size(text)))
    if (!holds(point_at(text))) return Value(false);
  return Value(true);
}

template <bool large>
Result is_case(Machine& machine, const Value& subject, Arguments&) {
  std::string_view text = subject.bytes();
  TRY(machine.spend_on(text.size() * 4));
  bool has_letters = false;
  for (; !text.empty(); text.remove_prefix(point_size(text))) {
    const char32_t point = point_at(text);
    if (is_title(point) || (large ? is_lower(point) : is_upper(point))) return Value(false);
    has_letters = has_letters || (large ? is_upper(point) : is_lower(point));
  }
  return Value(has_letters);
}

Result is_title_text(Machine& machine, const Value& subject, Arguments&) {
  std::string_view text = subject.bytes();
  TRY(machine.spend_on(text.size() * 4));
  bool inside = false;
  bool has_letters = false;
  for (; !text.empty(); text.remove_prefix(point_size(text))) {
    const char32_t point = point_at(text);
    const bool large = is_upper(point) || is_title(point);
    if ((large && inside) || (is_lower(point) && !inside)) return Value(false);
    inside = large || is_lower(point);
    has_letters = has_letters || inside;
  }
  return Value(has_letters);
}

constexpr NamedBuiltin text_table[] = {
    {"strip", strip<Side::both>},
    {"lstrip", strip<Side::left>},
    {"rstrip", strip<Side::right>},
    {"upper", text_method<upper>},
    {"lower", text_method<lower>},
    {"casefold", text_method<lower>},
    {"title", text_method<title>},
    {"capitalize", text_method<capitalize>},
    {"swapcase", text_method<swap_case>},
    {"center", justify<'^'>},
    {"ljust", justify<'<'>},
    {"rjust", justify<'>'>},
    {"zfill", zfill},
    {"format", format},
    {"isalpha", all_points<is_alpha, false>},
    {"isalnum", all_points<is_alnum, false>},
    {"isdigit", all_points<is_decimal, false>},
    {"isdecimal", all_points<is_decimal, false>},
    {"isnumeric", all_points<is_decimal, false>},
    {"isspace", all_points<is_space, false>},
    {"isascii", all_points<is_ascii_point, true>},
    {"isprintable", all_points<is_printable, true>},
    {"isupper", is_case<true>},
    {"islower", is_case<false>},
    {"istitle", is_title_text},
};

}  // namespace

std::span<const NamedBuiltin> text_methods() {
  static const std::vector<NamedBuiltin> all = [] {
    std::vector<NamedBuiltin> out(search_methods().begin(), search_methods().end());
    out.insert(out.end(), std::begin(text_table), std::end(text_table));
    return out;
  }();
  return all;
}

}  // namespace stackgate::jinja
