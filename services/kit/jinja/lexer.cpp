#include <algorithm>

#include "services/kit/base/try.hpp"
#include "services/kit/jinja/scanner.hpp"
#include "services/kit/jinja/template.hpp"
#include "services/kit/jinja/token.hpp"
#include "services/kit/jinja/unicode.hpp"

namespace stackgate::jinja {
namespace {

using Done = std::expected<void, Fault>;

// One template being cut. `at_` is behind what was read.
class Lexer {
 public:
  Lexer(std::string_view source, const Environment& environment) : source_(source), environment_(environment) {}

  std::expected<std::vector<Token>, Fault> run() {
    while (at_ < source_.size()) TRY(piece());
    tokens_.push_back({TokenKind::end, static_cast<std::uint32_t>(source_.size()), {}, {}});
    return std::move(tokens_);
  }

 private:
  char sign_at(std::size_t at) const {
    return at < source_.size() && (source_[at] == '-' || source_[at] == '+') ? source_[at] : '\0';
  }

  // Text up to a tag, and the tag.
  Done piece() {
    std::size_t tag = at_;
    for (;; ++tag) {
      tag = source_.find('{', tag);
      if (tag == std::string_view::npos || tag + 1 >= source_.size()) return last_text();
      if (const char c = source_[tag + 1]; c == '{' || c == '%' || c == '#') break;
    }
    const char kind = source_[tag + 1];
    const char sign = sign_at(tag + 2);
    add_text(tag, sign, kind == '{');
    at_ = tag + (sign == '\0' ? 2 : 3);
    if (kind == '#') return comment(tag);
    if (kind == '%' && begins_raw()) return raw(tag);
    return inside(tag, kind == '{');
  }

  Done last_text() {
    put(TokenKind::text, at_, source_.substr(at_));
    at_ = source_.size();
    return {};
  }

  void put(TokenKind kind, std::size_t at, std::string_view text) {
    if (kind != TokenKind::text || !text.empty()) tokens_.push_back({kind, static_cast<std::uint32_t>(at), text, {}});
  }

  // The text from at_ to the tag, stripped as the tag's sign and the environment say.
  void add_text(std::size_t tag, char sign, bool is_output) {
    std::string_view text = source_.substr(at_, tag - at_);
    if (sign == '-') {
      text = strip_right(text);
    } else if (sign != '+' && environment_.lstrip_blocks && !is_output) {
      const std::size_t line = text.rfind('\n') + 1;  // 0 when there is none
      const bool begins_line = line > 0 || at_ == 0 || source_[at_ - 1] == '\n';
      if (begins_line && strip_left(text.substr(line)).empty()) text = text.substr(0, line);
    }
    put(TokenKind::text, at_, text);
  }

  void skip_space() { at_ += source_.size() - at_ - strip_left(source_.substr(at_)).size(); }

  // Behind the two characters that end a tag.
  void leave(char sign, bool is_output) {
    if (sign == '-') return skip_space();
    if (!is_output && sign != '+' && environment_.trim_blocks && source_.substr(at_).starts_with('\n')) ++at_;
  }

  Done comment(std::size_t tag) {
    const std::size_t end = source_.find("#}", at_);
    if (end == std::string_view::npos) return std::unexpected(fault_at(source_, tag, "the comment has no \"#}\""));
    const char sign = end > at_ ? sign_at(end - 1) : '\0';
    at_ = end + 2;
    leave(sign, false);
    return {};
  }

  // A word and the tag's end from `at` on; its size with them, or 0.
  std::size_t word_tag(std::size_t at, std::string_view word, char& sign) const {
    const auto skip = [&](std::size_t from) { return source_.size() - strip_left(source_.substr(from)).size(); };
    std::size_t end = skip(at);
    if (!source_.substr(end).starts_with(word)) return 0;
    end = skip(end + word.size());
    sign = sign_at(end);
    if (sign != '\0') ++end;
    return source_.substr(end).starts_with("%}") ? end + 2 - at : 0;
  }

  bool begins_raw() const {
    char sign = '\0';
    return word_tag(at_, "raw", sign) > 0 && sign != '+';
  }

  Done raw(std::size_t tag) {
    char sign = '\0';
    at_ += word_tag(at_, "raw", sign);
    if (sign == '-') skip_space();
    for (std::size_t end = source_.find("{%", at_); end != std::string_view::npos; end = source_.find("{%", end + 2)) {
      const char before = sign_at(end + 2);
      const std::size_t word = end + (before == '\0' ? 2 : 3);
      const std::size_t size = word_tag(word, "endraw", sign);
      if (size == 0) continue;
      add_text(end, before, false);
      at_ = word + size;
      leave(sign, false);
      return {};
    }
    return std::unexpected(fault_at(source_, tag, "{% raw %} has no {% endraw %}"));
  }

  Done inside(std::size_t tag, bool is_output) {
    put(is_output ? TokenKind::output_begin : TokenKind::block_begin, tag, source_.substr(tag, 2));
    const std::string_view close = is_output ? "}}" : "%}";
    Scanner scanner(source_, at_, tokens_);
    for (;;) {
      scanner.skip_space();
      if (scanner.at_end())
        return std::unexpected(fault_at(source_, tag, is_output ? "the tag has no \"}}\"" : "the tag has no \"%}\""));
      const std::string_view left = scanner.rest();
      const bool is_signed = (left[0] == '-' || (left[0] == '+' && !is_output)) && left.substr(1).starts_with(close);
      if (!scanner.is_inside() && (is_signed || left.starts_with(close))) {
        at_ = scanner.at() + (is_signed ? 3 : 2);
        put(is_output ? TokenKind::output_end : TokenKind::block_end, scanner.at(), close);
        leave(is_signed ? left[0] : '\0', is_output);
        return {};
      }
      TRY(scanner.next());
    }
  }

  std::string_view source_;
  const Environment& environment_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

std::expected<std::vector<Token>, Fault> tokens_of_template(std::string_view source, const Environment& environment) {
  return Lexer(source, environment).run();
}

std::expected<std::vector<Token>, Fault> tokens_of_expression(std::string_view source) {
  std::vector<Token> tokens;
  Scanner scanner(source, 0, tokens);
  for (scanner.skip_space(); !scanner.at_end(); scanner.skip_space()) TRY(scanner.next());
  TRY(scanner.check_closed());
  tokens.push_back({TokenKind::end, static_cast<std::uint32_t>(source.size()), {}, {}});
  return tokens;
}

std::string normal_line_ends(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r' && source.substr(i + 1).starts_with('\n')) continue;
    out += source[i] == '\r' ? '\n' : source[i];
  }
  return out;
}

void place(Fault& fault, std::string_view source, std::size_t offset) {
  const std::string_view before = source.substr(0, offset);
  fault.line = 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
  fault.column = before.size() - (before.rfind('\n') + 1) + 1;
}

Fault fault_at(std::string_view source, std::size_t offset, std::string message) {
  Fault fault{FaultKind::syntax, std::move(message)};
  place(fault, source, offset);
  return fault;
}

std::string describe(const Fault& fault) {
  if (fault.line == 0 || fault.kind == FaultKind::raised) return fault.message;
  return "line " + std::to_string(fault.line) + ", column " + std::to_string(fault.column) + ": " + fault.message;
}

}  // namespace stackgate::jinja
