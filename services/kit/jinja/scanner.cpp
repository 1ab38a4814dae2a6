#include "services/kit/jinja/scanner.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "services/kit/base/concat.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/jinja/unicode.hpp"

namespace stackgate::jinja {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool continues_name(char c) { return begins_name(c) || is_digit(c); }

// Digits with single underscores between them; 0 when there is none at `at`.
template <class Is>
std::size_t digits(std::string_view text, std::size_t at, const Is& is) {
  std::size_t end = at;
  while (end < text.size() && (is(text[end]) || (text[end] == '_' && end > at && end + 1 < text.size() &&
                                                 is(text[end + 1]) && text[end - 1] != '_')))
    ++end;
  return end - at;
}

// Bytes of a float at the beginning, or 0: digits with a fraction, an exponent or both.
std::size_t real_size(std::string_view text) {
  std::size_t end = digits(text, 0, is_digit);
  if (end == 0) return 0;
  const std::size_t whole = end;
  if (end < text.size() && text[end] == '.') {
    const std::size_t fraction = digits(text, end + 1, is_digit);
    if (fraction > 0) end += 1 + fraction;
  }
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    std::size_t exponent = end + 1;
    if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) ++exponent;
    const std::size_t size = digits(text, exponent, is_digit);
    if (size > 0) end = exponent + size;
  }
  return end == whole ? 0 : end;
}

struct Base {
  std::string_view prefix;
  int base;
};
constexpr std::array<Base, 3> bases{{{"0x", 16}, {"0o", 8}, {"0b", 2}}};

}  // namespace

void Scanner::add(TokenKind kind, std::size_t size, Value value) {
  tokens_.push_back({kind, static_cast<std::uint32_t>(at_), source_.substr(at_, size), std::move(value)});
  at_ += size;
}

void Scanner::skip_space() {
  const std::string_view left = rest();
  at_ += left.size() - strip_left(left).size();
}

std::expected<void, Fault> Scanner::check_closed() const {
  if (open_.empty()) return {};
  return std::unexpected(fault_at(source_, at_, concat({"a \"", std::string_view(&open_.back(), 1), "\" is missing"})));
}

std::expected<void, Fault> Scanner::next() {
  const char c = source_[at_];
  if (is_digit(c)) return number();
  if (c == '\'' || c == '"') return string();
  if (!begins_name(c)) return operation();
  std::size_t size = 1;
  while (at_ + size < source_.size() && continues_name(source_[at_ + size])) ++size;
  add(TokenKind::name, size);
  return {};
}

std::expected<void, Fault> Scanner::number() {
  const auto plain = [](std::string_view text) {
    std::string out(text);
    std::erase(out, '_');
    return out;
  };
  const std::string_view left = rest();
  const bool behind_point = !tokens_.empty() && tokens_.back().text == "." && at_ > 0 && source_[at_ - 1] == '.';
  if (const std::size_t size = behind_point ? 0 : real_size(left); size > 0) {
    const std::string text = plain(left.substr(0, size));
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) value = text.contains("e-") ? 0 : HUGE_VAL;
    add(TokenKind::real, size, value);
    return {};
  }
  int base = 10;
  std::size_t prefix = 0;
  for (const Base& each : bases) {
    if (left.size() > 2 && left[0] == '0' && (left[1] | 0x20) == each.prefix[1]) base = each.base, prefix = 2;
  }
  const auto is = [base](char ch) {
    const int value = is_digit(ch) ? ch - '0' : (ch | 0x20) - 'a' + 10;
    return (is_digit(ch) || begins_name(ch)) && ch != '_' && value >= 0 && value < base;
  };
  const std::size_t size = prefix + digits(left, prefix, is);
  const std::string text = plain(left.substr(prefix, size - prefix));
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty()) return std::unexpected(fault_at(source_, at_, "a number without digits"));
  if (error != std::errc()) return std::unexpected(fault_at(source_, at_, "the integer has more than 64 bits"));
  if (base == 10 && text.size() > 1 && text[0] == '0' && value != 0)
    return std::unexpected(fault_at(source_, at_, "an integer begins with 0; write it without"));
  add(TokenKind::integer, size, value);
  return {};
}

std::expected<void, Fault> Scanner::string() {
  const char quote = source_[at_];
  std::size_t end = at_ + 1;
  while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
  if (end >= source_.size()) return std::unexpected(fault_at(source_, at_, "the string has no end"));
  auto text = unescaped(source_.substr(at_ + 1, end - at_ - 1));
  if (!text) return std::unexpected(fault_at(source_, at_, std::move(text).error()));
  add(TokenKind::string, end + 1 - at_, *std::move(text));
  return {};
}

std::expected<void, Fault> Scanner::operation() {
  static constexpr std::string_view pairs[] = {"//", "**", "==", "!=", ">=", "<="};
  static constexpr std::string_view singles = "+-/*%~[](){}><=.:|,;";
  const std::string_view left = rest();
  const bool is_pair = std::ranges::any_of(pairs, [&](std::string_view pair) { return left.starts_with(pair); });
  const char c = left[0];
  if (!is_pair && !singles.contains(c))
    return std::unexpected(fault_at(source_, at_, concat({"unexpected character \"", left.substr(0, 1), "\""})));
  if (c == '(') open_.push_back(')');
  if (c == '[') open_.push_back(']');
  if (c == '{') open_.push_back('}');
  if (c == ')' || c == ']' || c == '}') {
    if (open_.empty() || open_.back() != c)
      return std::unexpected(fault_at(source_, at_, concat({"\"", left.substr(0, 1), "\" closes nothing"})));
    open_.pop_back();
  }
  add(TokenKind::operation, is_pair ? 2 : 1);
  return {};
}

namespace {

// Up to `most` digits of `base` at the beginning, and how many there were.
std::pair<char32_t, std::size_t> escape_digits(std::string_view text, std::size_t most, int base) {
  std::uint32_t value = 0;
  const auto part = text.substr(0, most);
  const auto end = std::from_chars(part.data(), part.data() + part.size(), value, base).ptr;
  return {value, static_cast<std::size_t>(end - part.data())};
}

// One escape behind its backslash; how many bytes it has.
std::expected<std::size_t, std::string> append_escape(std::string& out, std::string_view text) {
  static constexpr std::string_view letters = "abfnrtv\\'\"";
  static constexpr std::string_view meanings = "\a\b\f\n\r\t\v\\'\"";
  const char c = text[0];
  if (const auto at = letters.find(c); at != std::string_view::npos) {
    out += meanings[at];
    return 1;
  }
  if (c == '\n') return 1;
  if (c >= '0' && c <= '7') {
    const auto [point, size] = escape_digits(text, 3, 8);
    append_point(out, point);
    return size;
  }
  const std::size_t wanted = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  if (wanted > 0) {
    const auto [point, size] = escape_digits(text.substr(1), wanted, 16);
    if (size != wanted) return std::unexpected(concat({"\\", text.substr(0, 1), " has too few hexadecimal digits"}));
    if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
      return std::unexpected(
          concat({"\\", text.substr(0, 1 + wanted), " is no character; write the character itself"}));
    append_point(out, point);
    return wanted + 1;
  }
  if (c == 'N') return std::unexpected(std::string("\\N{name} is not known here; write the character itself"));
  out += '\\';
  return 0;
}

}  // namespace

std::expected<std::string, std::string> unescaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find('\\'), text.size());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    text.remove_prefix(1);
    if (text.empty()) return std::unexpected(std::string("a backslash ends the string"));
    text.remove_prefix(TRY(append_escape(out, text)));
  }
  return out;
}

}  // namespace stackgate::jinja
