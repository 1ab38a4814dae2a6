#include "services/model/tokenizer/pattern_syntax.hpp"

#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "services/kit/base/ascii.hpp"

namespace stackgate::tokenizer {
namespace {

struct ClassEscape {
  char name;
  std::string_view outside, inside;  // of a class [...]
};

/// PCRE2 counts U+180E as white space, has other word characters, and takes \h for blanks.
constexpr std::array<ClassEscape, 6> class_escapes = {{
    {'s', R"([\t-\r\x{85}\p{Z}])", R"(\t-\r\x{85}\p{Z})"},
    {'S', R"([^\t-\r\x{85}\p{Z}])",
     R"(\x{0}-\x{8}\x{e}-\x{1f}\x{7f}-\x{84}\x{86}-\x{9f}\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Cn}\p{Co}\p{Cs})"},
    {'w', R"([\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}])", R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc})"},
    {'W', R"([^\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}])", R"(\p{No}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}\p{S}\p{Z}\p{C})"},
    {'h', "[0-9A-Fa-f]", "0-9A-Fa-f"},
    {'H', "[^0-9A-Fa-f]", R"(\x{0}-/:-@G-`g-\x{10ffff})"},
}};

class SyntaxWriter {
 public:
  explicit SyntaxWriter(std::string_view in) : in_(in) {}

  std::expected<std::string, std::string> run() {
    while (at_ < in_.size() && problem_.empty()) {
      const char c = in_[at_];
      if (c == '\\')
        escape();
      else if (c == '[')
        character_class();
      else if (c == '(')
        open_group();
      else if (c == ')')
        close_group();
      else if (c == '{')
        braces();
      else
        plain();
    }
    if (!problem_.empty()) return std::unexpected(std::move(problem_));
    return std::move(out_);
  }

 private:
  void fail(std::string why) { problem_ = std::move(why); }

  void plain() {
    if (!std::string_view("*+?|^$").contains(in_[at_])) atom_ = out_.size();
    out_ += in_[at_++];
  }

  /// At a backslash: copies it and what belongs to it.
  void escape(bool in_class = false) {
    if (at_ + 1 >= in_.size()) return fail("ends in a backslash");
    const char c = in_[at_ + 1];
    if (!in_class) atom_ = out_.size();
    for (const ClassEscape& known : class_escapes) {
      if (known.name != c) continue;
      out_ += in_class ? known.inside : known.outside;
      at_ += 2;
      return;
    }
    if ((c == 'p' || c == 'P') && at_ + 2 < in_.size() && in_[at_ + 2] == '{') {
      const std::size_t close = in_.find('}', at_);
      if (close == std::string_view::npos) return fail("has \\p{ without its }");
      out_ += in_.substr(at_, close + 1 - at_);
      at_ = close + 1;
      return;
    }
    if (c == 'u' && at_ + 6 <= in_.size()) {  // Ruby's \u00A0
      out_ += fmt::format("\\x{{{}}}", in_.substr(at_ + 2, 4));
      at_ += 6;
      return;
    }
    if (c == 'x' && at_ + 2 < in_.size() && in_[at_ + 2] == '{') {
      const std::size_t close = in_.find('}', at_);
      if (close == std::string_view::npos) return fail("has \\x{ without its }");
      out_ += in_.substr(at_, close + 1 - at_);
      at_ = close + 1;
      return;
    }
    if (ascii::is_alphanumeric(c) && !std::string_view("pPdDbBAzZnrtfvaex").contains(c))
      return fail(fmt::format("uses \\{}", c));
    out_ += in_.substr(at_, 2);
    at_ += 2;
  }

  void character_class() {
    atom_ = out_.size();
    out_ += in_[at_++];
    if (at_ < in_.size() && in_[at_] == '^') out_ += in_[at_++];
    bool first = true;
    for (; at_ < in_.size() && problem_.empty(); first = false) {
      const char c = in_[at_];
      if (c == '\\') {
        escape(true);
        continue;
      }
      if (c == ']' && first) return fail("has an empty class []");
      if (c == '[') return fail("nests classes, or names a POSIX class");
      if (in_.substr(at_).starts_with("&&")) return fail("intersects classes with &&");
      out_ += c;
      ++at_;
      if (c == ']') return;
    }
    if (problem_.empty()) fail("has a class [ without its ]");
  }

  void open_group() {
    if (groups_.size() >= 100) return fail("nests groups deeper than 100");
    groups_.push_back(out_.size());
    const std::string_view rest = in_.substr(at_);
    if (rest.starts_with("(*")) return fail("has (*");
    std::string_view taken = "(";
    if (rest.starts_with("(?")) {
      taken = {};
      for (const std::string_view known : {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?-i:"})
        if (rest.starts_with(known)) taken = known;
      for (const std::string_view switched : {"(?i)", "(?-i)"}) {
        if (!rest.starts_with(switched)) continue;
        groups_.pop_back();
        taken = switched;
      }
      if (taken.empty()) return fail(fmt::format("has the group {}…", rest.substr(0, 4)));
    }
    out_ += taken;
    at_ += taken.size();
  }

  void close_group() {
    if (groups_.empty()) return fail("has ) without its (");
    atom_ = groups_.back();
    groups_.pop_back();
    out_ += in_[at_++];
  }

  /// {n}, {n,}, {,m}, {n,m}: a plus behind it repeats the whole, where PCRE2 would take it for possessive.
  void braces() {
    const std::size_t close = in_.find('}', at_);
    const std::string_view inner = close == std::string_view::npos ? "" : in_.substr(at_ + 1, close - at_ - 1);
    if (inner.empty() || inner.find_first_not_of("0123456789,") != std::string_view::npos || inner == ",")
      return plain();
    const std::string counts = fmt::format("{{{}{}}}", inner.starts_with(',') ? "0" : "", inner);
    at_ = close + 1;
    if (at_ < in_.size() && in_[at_] == '+') {
      out_.insert(atom_, "(?:");
      out_ += counts + ")";
    } else {
      out_ += counts;
    }
  }

  std::string_view in_;
  std::size_t at_ = 0;
  std::string out_, problem_;
  std::size_t atom_ = 0;  // where in out_ the last thing that can be repeated begins
  std::vector<std::size_t> groups_;
};

}  // namespace

std::expected<std::string, std::string> to_pcre(std::string_view pattern) { return SyntaxWriter(pattern).run(); }

}  // namespace stackgate::tokenizer
