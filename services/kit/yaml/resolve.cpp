#include "services/kit/yaml/resolve.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

#include "services/kit/base/base64.hpp"
#include "services/kit/base/utf8.hpp"

namespace stackgate::yaml {

namespace {

using json::Value;

constexpr std::string_view tag_prefix = "tag:yaml.org,2002:";

enum class Word : std::uint8_t { none, null, yes, no, infinite };

Word word_of(std::string_view text) {
  struct Entry {
    std::string_view text;
    Word word;
  };
  static constexpr std::array<Entry, 39> special_words{{
      {"~", Word::null},         {"null", Word::null},      {"Null", Word::null},      {"NULL", Word::null},
      {"y", Word::yes},          {"Y", Word::yes},          {"yes", Word::yes},        {"Yes", Word::yes},
      {"YES", Word::yes},        {"true", Word::yes},       {"True", Word::yes},       {"TRUE", Word::yes},
      {"on", Word::yes},         {"On", Word::yes},         {"ON", Word::yes},         {"n", Word::no},
      {"N", Word::no},           {"no", Word::no},          {"No", Word::no},          {"NO", Word::no},
      {"false", Word::no},       {"False", Word::no},       {"FALSE", Word::no},       {"off", Word::no},
      {"Off", Word::no},         {"OFF", Word::no},         {".nan", Word::infinite},  {".NaN", Word::infinite},
      {".NAN", Word::infinite},  {".inf", Word::infinite},  {".Inf", Word::infinite},  {".INF", Word::infinite},
      {"+.inf", Word::infinite}, {"+.Inf", Word::infinite}, {"+.INF", Word::infinite}, {"-.inf", Word::infinite},
      {"-.Inf", Word::infinite}, {"-.INF", Word::infinite}, {"", Word::null},
  }};
  if (text.size() > 5) return Word::none;
  for (const Entry& entry : special_words)
    if (entry.text == text) return entry.word;
  return Word::none;
}

std::string_view skip_digits(std::string_view text) {
  const auto end = std::ranges::find_if_not(text, [](char c) { return c >= '0' && c <= '9'; });
  return text.substr(static_cast<std::size_t>(end - text.begin()));
}

/// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool has_float_form(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  std::string_view rest = skip_digits(text);
  const bool whole = rest.size() < text.size();
  if (!rest.empty() && rest[0] == '.') {
    rest.remove_prefix(1);
    const std::string_view behind = skip_digits(rest);
    if (!whole && behind.size() == rest.size()) return false;
    rest = behind;
  } else if (!whole) {
    return false;
  }
  if (!rest.empty() && (rest[0] == 'e' || rest[0] == 'E')) {
    rest.remove_prefix(1);
    if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) rest.remove_prefix(1);
    const std::string_view behind = skip_digits(rest);
    if (behind.size() == rest.size()) return false;
    rest = behind;
  }
  return rest.empty();
}

/// A float too large for a double is a string, as in go-yaml.
std::optional<double> read_float(std::string_view text) {
  if (!has_float_form(text)) return std::nullopt;
  if (text[0] == '+') text.remove_prefix(1);
  double value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc::result_out_of_range) {
    value = std::strtod(std::string(text).c_str(), nullptr);
    if (std::isinf(value)) return std::nullopt;
  }
  return value;
}

std::optional<Value> read_integer(std::string_view text, std::uint32_t offset) {
  const bool signed_form = text[0] == '-' || text[0] == '+';
  const bool negative = text[0] == '-';
  if (signed_form) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char mark = static_cast<char>(text[1] | 0x20);
    base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
    text.remove_prefix(mark == 'x' || mark == 'b' || mark == 'o' ? 2 : 1);
  }
  std::uint64_t magnitude = 0;
  const char* const first = text.data();
  const char* const end = first + text.size();
  const auto [stop, code] = std::from_chars(first, end, magnitude, base);
  if (code != std::errc{} || stop != end) return std::nullopt;
  constexpr std::uint64_t top = std::uint64_t{1} << 63U;
  if (negative && magnitude <= top) return Value::make_integer(static_cast<std::int64_t>(~magnitude + 1), offset);
  if (!negative && magnitude < top) return Value::make_integer(static_cast<std::int64_t>(magnitude), offset);
  if (signed_form) return std::nullopt;
  return Value::make_number(static_cast<double>(magnitude), offset);
}

std::optional<Value> read_number(std::string_view text, std::uint32_t offset) {
  std::string without;
  if (text.find('_') != std::string_view::npos) {
    std::ranges::copy_if(text, std::back_inserter(without), [](char c) { return c != '_'; });
    text = without;
    if (text.empty()) return std::nullopt;
  }
  if (const auto integer = read_integer(text, offset)) return integer;
  if (const auto real = read_float(text)) return Value::make_number(*real, offset);
  return std::nullopt;
}

}  // namespace

Resolved resolve_plain(std::string_view text, std::uint32_t offset) {
  const Value as_string = Value::make_string(text, offset);
  const char first = text.empty() ? '~' : text[0];
  if (std::string_view(".+-~yYnNtTfFoO").contains(first)) {
    switch (word_of(text)) {
      case Word::null:
        return {Value::make_null(offset)};
      case Word::yes:
        return {Value::make_boolean(true, offset)};
      case Word::no:
        return {Value::make_boolean(false, offset)};
      case Word::infinite:
        return {as_string, "JSON has neither infinity nor NaN; quote it if a string is meant"};
      case Word::none:
        break;
    }
  }
  if (first == '.') {
    if (const auto real = read_float(text)) return {Value::make_number(*real, offset)};
  } else if (std::string_view("+-0123456789").contains(first)) {
    if (const auto number = read_number(text, offset)) return {*number};
  }
  return {as_string};
}

namespace {

/// As kubectl has it once it has written it as JSON: what is no UTF-8 becomes U+FFFD, byte by byte.
Resolved resolve_binary(std::string_view text, std::uint32_t offset, json::Arena& arena) {
  const std::optional<std::string> bytes = base64::decode(text);
  if (!bytes)
    return {Value::make_string(text, offset),
            "the text is not base64, as the tag !!binary says; encode it, with padding and without spaces, or take the "
            "tag out and write the text itself"};
  std::string out;
  out.reserve(bytes->size());
  for (std::string_view rest = *bytes; !rest.empty();) {
    const std::size_t length = utf8::sequence_length(rest);
    out += length == 0 ? std::string_view("\xEF\xBF\xBD") : rest.substr(0, length);
    rest.remove_prefix(std::max<std::size_t>(1, length));
  }
  return {Value::make_string(arena.copy(out), offset)};
}

}  // namespace

Resolved resolve_tagged(std::string_view tag, std::string_view text, std::uint32_t offset, json::Arena& arena) {
  const Value as_string = Value::make_string(text, offset);
  if (!tag.starts_with(tag_prefix)) return {as_string};
  tag.remove_prefix(tag_prefix.size());
  if (tag == "binary") return resolve_binary(text, offset, arena);
  if (tag != "null" && tag != "bool" && tag != "int" && tag != "float") return {as_string};
  const Resolved plain = resolve_plain(text, offset);
  if (plain.problem != nullptr) return plain;
  if (tag == "null") return {plain.value, plain.value.is_null() ? nullptr : "the text is not what the tag !!null says"};
  if (tag == "bool")
    return {plain.value, plain.value.is_boolean() ? nullptr : "the text is not what the tag !!bool says"};
  if (tag == "int")
    return {plain.value, plain.value.is_integer() ? nullptr : "the text is not what the tag !!int says"};
  return {plain.value, plain.value.is_number() ? nullptr : "the text is not what the tag !!float says"};
}

json::Value as_json(const json::Value& value) {
  if (value.type() != json::Type::number) return value;
  const double number = value.number();
  if (number != std::trunc(number) || number < -0x1p63 || number >= 0x1p63) return value;
  return Value::make_integer(static_cast<std::int64_t>(number), value.offset());
}

std::optional<std::string_view> key_text(const json::Value& key, json::Arena& arena) {
  std::array<char, 32> text{};
  char* const begin = text.data();
  char* const end = begin + text.size();
  switch (key.type()) {
    case json::Type::string:
      return key.string();
    case json::Type::boolean:
      return key.boolean() ? "true" : "false";
    case json::Type::integer:
      return arena.copy(std::string_view(begin, std::to_chars(begin, end, key.integer()).ptr));
    case json::Type::number:
      return arena.copy(std::string_view(
          begin, std::to_chars(begin, end, static_cast<float>(key.number()), std::chars_format::general).ptr));
    default:
      return std::nullopt;
  }
}

}  // namespace stackgate::yaml
