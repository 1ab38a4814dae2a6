// HTML that cannot be broken by what is put into it. Markup comes from literals in the source only; everything else is
// text and is escaped:
//
//   Html page;
//   page.put(R"(<a href="{}">{}</a>)", link, name);
//
// Each {} takes one argument. Where it stands is checked while compiling: between tags, or inside a quoted attribute
// value; anywhere else (a tag's or an attribute's name, an unquoted value, a comment, <script>, <style>) does not
// compile, and neither does markup whose quotes and tags stay open. Pure; no thread-safety of its own.
#pragma once
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace stackgate::html {

/// A URL of this server for an attribute: made by functions of its own, never from what a user wrote.
struct Link {
  std::string text;
};

/// Text for a person: escaped for HTML; bytes that are no UTF-8, control characters and characters that turn the
/// direction of writing are shown as \xNN, so that a name looks like what it is. Tabs and line breaks stay.
std::string visible(std::string_view text);

/// A template with `count` places.
template <std::size_t count>
class Markup {
 public:
  template <std::size_t size>
  consteval Markup(const char (&source)[size]) : text_(source, size - 1) {  // NOLINT(google-explicit-constructor)
    enum class In { text, tag, quoted } in = In::text;
    std::size_t places = 0;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '{') {
        if (i + 1 == text_.size() || text_[i + 1] != '}') throw "a '{' stands alone";
        if (in == In::tag) throw "a place inside a tag must be a quoted value";
        ++places;
        ++i;
      } else if (in == In::text) {
        if (c == '<') in = In::tag;
        if (c == '<' && (begins(i, "<!--") || begins(i, "<script>") || begins(i, "<style")))
          throw "neither comments nor inline scripts and styles";
      } else if (in == In::tag) {
        if (c == '>') in = In::text;
        if (c == '"') in = In::quoted;
        if (c == '\'') throw "quote with \"";
      } else if (c == '"') {
        in = In::tag;
      }
    }
    if (in != In::text) throw "a tag or a quote stays open";
    if (places != count) throw "places and arguments do not match";
  }
  constexpr std::string_view text() const { return text_; }

 private:
  consteval bool begins(std::size_t at, std::string_view word) const { return text_.substr(at).starts_with(word); }
  std::string_view text_;
};

class Html {
 public:
  template <typename... Args>
  Html& put(std::type_identity_t<Markup<sizeof...(Args)>> markup, const Args&... args) {
    std::string_view rest = markup.text();
    ((add_until_place(rest), add(args)), ...);
    text_ += rest;
    return *this;
  }
  const std::string& str() const& { return text_; }
  std::string str() && { return std::move(text_); }
  /// Markup that a renderer made of a tree it had checked: the one way around the rule above.
  Html& put_rendered(std::string_view markup) {
    text_ += markup;
    return *this;
  }
  bool empty() const { return text_.empty(); }
  std::size_t size() const { return text_.size(); }

 private:
  void add_until_place(std::string_view& rest) {
    const auto at = rest.find("{}");
    text_ += rest.substr(0, at);
    rest.remove_prefix(at + 2);
  }
  void add(std::string_view text) { text_ += visible(text); }
  void add(const char* text) { add(std::string_view(text)); }
  void add(const Html& html) { text_ += html.text_; }
  void add(const Link& link) { add(std::string_view(link.text)); }
  template <std::integral T>
  void add(T number) {
    static_assert(!std::same_as<T, bool> && !std::same_as<T, char>);
    text_ += std::to_string(number);
  }

  std::string text_;
};

/// One piece by itself.
template <typename... Args>
Html piece(std::type_identity_t<Markup<sizeof...(Args)>> markup, const Args&... args) {
  Html out;
  out.put(markup, args...);
  return out;
}

}  // namespace stackgate::html
