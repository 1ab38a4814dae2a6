#include "services/kit/json/write.hpp"

#include <charconv>
#include <cmath>

#include "services/kit/json/scan.hpp"
#include "services/kit/json/utf8.hpp"

namespace stackgate::json {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

void append_control(std::string& out, char c) {
  switch (c) {
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out += "\\u00";
  out += digits[byte >> 4U];
  out += digits[byte & 15U];
}

template <class Number>
void append_number(std::string& out, Number number) {
  char text[32];
  const auto [end, code] = std::to_chars(text, text + sizeof text, number);
  out.append(text, end);
}

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    const char* const stop = skip_plain_run(at, end);
    out.append(at, stop);
    at = stop;
    if (at == end) break;
    if (*at == '"' || *at == '\\') {
      out += '\\';
      out += *at++;
    } else if (static_cast<unsigned char>(*at) < 0x20) {
      append_control(out, *at++);
    } else if (const std::size_t length = utf8::sequence_length({at, end}); length != 0) {
      out.append(at, length);
      at += length;
    } else {
      out += replacement;
      ++at;
    }
  }
  out += '"';
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
      return object([&] {
        for (const Member& member : tree.members()) {
          key(member.key);
          value(member.value);
        }
      });
  }
}

std::string to_json(const Value& tree) {
  std::string out;
  Writer(out).value(tree);
  return out;
}

}  // namespace stackgate::json
