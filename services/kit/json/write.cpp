#include "services/kit/json/write.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "services/kit/base/utf8.hpp"
#include "services/kit/json/scan.hpp"

namespace stackgate::json {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

constexpr std::size_t longest_escape = 6;  // \u001f

char* put(char* out, std::string_view text) { return std::ranges::copy(text, out).out; }

char* put_control(char* out, char c) {
  static constexpr std::string_view letters = "btn-fr";  // from U+0008 on; \v has none
  if (c >= '\b' && c <= '\r' && c != '\v') {
    *out++ = '\\';
    *out++ = letters[static_cast<std::size_t>(c - '\b')];
    return out;
  }
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out = put(out, "\\u00");
  *out++ = digits[byte >> 4U];
  *out++ = digits[byte & 15U];
  return out;
}

/// Escapes from `at` on, until `stop` is passed; `end` is the text's. `out` has room for `longest_escape` bytes for
/// each.
char* put_escaped(char* out, const char*& at, const char* stop, const char* end) {
  while (at < stop) {
    out = copy_plain_run(out, at, stop);
    if (at == stop) break;
    if (*at == '"' || *at == '\\') {
      *out++ = '\\';
      *out++ = *at++;
    } else if (static_cast<unsigned char>(*at) < 0x20) {
      out = put_control(out, *at++);
    } else if (const std::size_t length = utf8::sequence_length({at, end}); length != 0) {
      out = put(out, {at, length});
      at += length;
    } else {
      out = put(out, replacement);
      ++at;
    }
  }
  return out;
}

template <class Number>
void append_number(std::string& out, Number number) {
  char text[32];
  const auto [end, code] = std::to_chars(text, text + sizeof text, number);
  out.append(text, end);
}

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
  constexpr std::size_t piece = 256, last_character = 4, quotes = 2;
  const char* at = text.data();
  const char* const end = at + text.size();
  // Piece by piece, so that what might be escaped takes no more room than that.
  do {
    const char* const stop = at + std::min(piece, static_cast<std::size_t>(end - at));
    const std::size_t before = out.size(), room = static_cast<std::size_t>(stop - at) + last_character;
    out.resize_and_overwrite(before + room * longest_escape + quotes, [&](char* text_of_out, std::size_t) {
      char* to = text_of_out + before;
      if (at == text.data()) *to++ = '"';
      to = put_escaped(to, at, stop, end);
      if (at == end) *to++ = '"';
      return static_cast<std::size_t>(to - text_of_out);
    });
  } while (at != end);
}

void Writer::separate() {
  if (!first_ && !after_key_) out_ += ',';
  first_ = false;
  after_key_ = false;
}

void Writer::open(char bracket) {
  separate();
  out_ += bracket;
  first_ = true;
}

void Writer::close(char bracket) {
  out_ += bracket;
  first_ = false;
}

void Writer::key(std::string_view name) {
  separate();
  append_quoted(out_, name);
  out_ += ':';
  after_key_ = true;
}

void Writer::value(std::string_view text) {
  separate();
  append_quoted(out_, text);
}

void Writer::value(bool flag) { raw(flag ? "true" : "false"); }

void Writer::value(std::int64_t number) {
  separate();
  append_number(out_, number);
}

void Writer::value(std::uint64_t number) {
  separate();
  append_number(out_, number);
}

void Writer::value(double number) {
  if (!std::isfinite(number)) return raw("null");  // JSON has no word for it
  separate();
  append_number(out_, number);
}

void Writer::value(std::nullptr_t) { raw("null"); }

void Writer::raw(std::string_view json) {
  separate();
  out_ += json;
}

void Writer::value(const Value& tree) {
  switch (tree.type()) {
    case Type::null:
      return value(nullptr);
    case Type::boolean:
      return value(tree.boolean());
    case Type::integer:
      return value(tree.integer());
    case Type::number:
      return value(tree.number());
    case Type::string:
      return value(tree.string());
    case Type::array:
      return array([&] {
        for (const Value& item : tree.items()) value(item);
      });
    case Type::object:
      return object([&] { members(tree); });
  }
}

void Writer::members(const Value& from, std::initializer_list<std::string_view> but) {
  for (const Member& each : from.members())
    if (std::ranges::find(but, each.key) == but.end()) member(each.key, each.value);
}

std::string to_json(const Value& tree) {
  std::string out;
  Writer(out).value(tree);
  return out;
}

}  // namespace stackgate::json
