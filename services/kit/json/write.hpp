// JSON text out: a writer that appends to a string, without building a tree first.
//   Writer w(out); w.object([&] { w.member("uid", uid); w.object("status", [&] {...}); });
//   object_text([&](Writer& w) { w.member("uid", uid); })
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "services/kit/json/value.hpp"

namespace stackgate::json {

/// Appends `text` as a quoted JSON string. Bytes that are not UTF-8 become U+FFFD.
void append_quoted(std::string& out, std::string_view text);

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  template <class Body>
  void object(Body&& body) {
    open('{');
    body();
    close('}');
  }
  template <class Body>
  void array(Body&& body) {
    open('[');
    body();
    close(']');
  }
  void key(std::string_view name);
  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool flag);
  void value(std::int64_t number);
  void value(int number) { value(static_cast<std::int64_t>(number)); }
  void value(std::uint64_t number);
  void value(std::uint32_t number) { value(static_cast<std::uint64_t>(number)); }
  void value(double number);
  void value(std::nullptr_t);
  /// A whole tree, compact.
  void value(const Value& tree);
  /// Text that is JSON already.
  void raw(std::string_view json);

  template <class T>
  void member(std::string_view name, const T& v) {
    key(name);
    value(v);
  }
  template <class Body>
  void object(std::string_view name, Body&& body) {
    key(name);
    object(body);
  }
  template <class Body>
  void array(std::string_view name, Body&& body) {
    key(name);
    array(body);
  }
  /// Those of `from`, an object, but for the named ones.
  void members(const Value& from, std::initializer_list<std::string_view> but = {});

 private:
  void open(char bracket);
  void close(char bracket);
  void separate();

  std::string& out_;
  bool first_ = true;
  bool after_key_ = false;
};

/// The text of an object whose members `members` writes.
template <std::invocable<Writer&> Members>
std::string object_text(Members&& members) {
  std::string out;
  Writer writer(out);
  writer.object([&] { members(writer); });
  return out;
}

/// A whole tree as compact JSON.
std::string to_json(const Value& tree);

}  // namespace stackgate::json
