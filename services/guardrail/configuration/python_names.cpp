#include "services/guardrail/configuration/python_names.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "services/kit/base/ascii.hpp"

namespace stackgate::guardrail {
namespace {

enum class TokenKind : std::uint8_t { name, text, symbol, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;  // of a text: what stands between its quotes
  bool plain = true;      // of a text: no f-string, no escapes
};

/// What init(app) of NeMo Guardrails' servers may call, too.
constexpr std::string_view not_served[] = {"register_prompt_context", "register_embedding_search_provider",
                                           "register_embedding_provider"};

/// Python's tokens as far as names, texts and symbols go.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  Token next() {
    skip_blanks();
    if (at_ >= text_.size()) return {};
    const char c = text_[at_];
    if (c == '"' || c == '\'') return quoted(true);
    if (!is_name(c)) return {TokenKind::symbol, text_.substr(at_++, 1)};
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    const bool quote = at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'');
    if (quote && word.size() <= 2 && word.find_first_not_of("rRbBuUfF") == std::string_view::npos)
      return quoted(word.find_first_of("fFbB") == std::string_view::npos);
    return {TokenKind::name, word};
  }

  /// 1-based; `part` stands in the text.
  std::size_t line_of(std::string_view part) const {
    return 1 + static_cast<std::size_t>(
                   std::ranges::count(text_.substr(0, static_cast<std::size_t>(part.data() - text_.data())), '\n'));
  }

 private:
  static bool is_name(char c) { return ascii::is_alphanumeric(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80; }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (std::string_view(" \t\r\n\f\\").contains(text_[at_]))
        ++at_;
      else
        return;
    }
  }

  Token quoted(bool plain) {
    const char quote = text_[at_];
    const std::string three(3, quote);
    const bool is_long = text_.substr(at_, 3) == three;
    at_ += is_long ? 3 : 1;
    const std::size_t begin = at_;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\') {
        plain = false;
        ++at_;
      } else if (is_long ? text_.substr(at_, 3) == three : text_[at_] == quote || text_[at_] == '\n') {
        break;
      }
    }
    at_ = std::min(at_, text_.size());
    const Token out{TokenKind::text, text_.substr(begin, at_ - begin), plain};
    at_ = std::min(at_ + (is_long ? 3 : 1), text_.size());
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : tokens_(text) { step(); }

  PythonNames read() {
    while (now_.kind != TokenKind::end) {
      if (is_symbol('@'))
        decorator();
      else if (is_name("def") || is_name("class"))
        definition();
      else if (is_name("register_action") || is_name("register_filter") || is_name("register_output_parser"))
        registration();
      else if (now_.kind == TokenKind::name && std::ranges::find(not_served, now_.text) != std::end(not_served))
        unserved();
      else
        step();
    }
    return std::move(out_);
  }

 private:
  void step() {
    before_ = now_;
    now_ = tokens_.next();
  }
  bool is_symbol(char c) const { return now_.kind == TokenKind::symbol && now_.text.front() == c; }
  bool is_name(std::string_view name) const { return now_.kind == TokenKind::name && now_.text == name; }

  /// Behind '@': a name with dots, and arguments.
  void decorator() {
    step();
    std::string_view last;
    while (now_.kind == TokenKind::name) {
      last = now_.text;
      step();
      if (!is_symbol('.')) break;
      step();
    }
    if (last != "action") return;
    PythonAction action;
    bool unknown = false;
    if (is_symbol('(')) arguments(action, unknown);
    if (unknown)
      out_.dynamic = true;
    else
      pending_ = std::move(action);
  }

  /// From '(' to behind its ')'.
  void arguments(PythonAction& action, bool& unknown) {
    std::size_t depth = 0;
    std::size_t position = 0;
    do {
      if (is_symbol('(') || is_symbol('[') || is_symbol('{'))
        ++depth;
      else if (is_symbol(')') || is_symbol(']') || is_symbol('}'))
        --depth;
      else if (depth == 1 && is_symbol(','))
        ++position;
      else if (depth == 1 && position == 0 && before_.kind == TokenKind::symbol && before_.text == "(" &&
               now_.kind == TokenKind::text) {
        action.name = now_.text;
        unknown = unknown || !now_.plain;
      } else if (depth == 1 && now_.kind == TokenKind::name && (now_.text == "name" || now_.text == "output_mapping")) {
        const bool names = now_.text == "name";
        step();
        if (!is_symbol('=')) continue;
        step();
        if (!names) {
          action.output_mapping = !is_name("None");
          continue;
        }
        if (now_.kind == TokenKind::text && now_.plain)
          action.name = now_.text;
        else if (!is_name("None"))
          unknown = true;
        else
          continue;
        if (now_.kind != TokenKind::text) continue;
      }
      step();
    } while (depth > 0 && now_.kind != TokenKind::end);
  }

  void definition() {
    step();
    if (now_.kind != TokenKind::name) return;
    if (now_.text == "init") out_.has_init = true;
    if (pending_) {
      if (pending_->name.empty()) pending_->name = now_.text;
      add(std::move(*pending_));
      pending_.reset();
    }
    step();
  }

  /// register_action(f, "x"), register_action(f, name="x"), register_action(f); the same of filters and parsers.
  void registration() {
    const bool defined = before_.kind == TokenKind::name && before_.text == "def";
    const std::string_view function = now_.text;
    step();
    if (defined) return;
    const std::string name = is_symbol('(') ? registered_name() : "";
    if (function == "register_action")
      name.empty() ? void(out_.dynamic = true) : add({.name = name});
    else if (function == "register_filter")
      add(name, out_.prompts.filters, out_.prompts.any_filter);
    else
      add(name, out_.prompts.parsers, out_.prompts.any_parser);
  }

  /// From '(' to its ')': the last argument, or the function's own name where there is one argument. Empty where only
  /// running the code gives it.
  std::string registered_name() {
    std::vector<Token> argument;
    bool is_first = true;
    bool ended = false;  // by a comma, which may be the last one
    std::size_t depth = 0;
    do {
      const bool opens = is_symbol('(') || is_symbol('[') || is_symbol('{');
      const bool closes = is_symbol(')') || is_symbol(']') || is_symbol('}');
      if (closes) --depth;
      if (depth == 1 && is_symbol(',')) {
        ended = true;
      } else if (depth > 0) {
        if (std::exchange(ended, false)) {
          is_first = false;
          argument.clear();
        }
        if (argument.size() < most_names) argument.push_back(now_);
      }
      if (opens) ++depth;
      step();
    } while (depth > 0 && now_.kind != TokenKind::end);
    if (!is_first) {
      const bool has_key = argument.size() == 3 && argument[0].text == "name" && argument[1].text == "=";
      const bool known = (argument.size() == 1 || has_key) && argument.back().kind == TokenKind::text;
      return known && argument.back().plain ? std::string(argument.back().text) : "";
    }
    const bool known = std::ranges::all_of(argument, [](const Token& each) {  // module.function
      return each.kind == TokenKind::name || (each.kind == TokenKind::symbol && each.text == ".");
    });
    return known && !argument.empty() ? std::string(argument.back().text) : "";
  }

  void unserved() {
    constexpr std::size_t most_lines = 20;
    const bool defined = before_.kind == TokenKind::name && before_.text == "def";
    const std::string_view name = now_.text;
    const std::size_t line = tokens_.line_of(name);
    step();
    if (is_symbol('(') && !defined && out_.unserved.size() < most_lines)
      out_.unserved.push_back({std::string(name), static_cast<std::uint32_t>(line)});
  }

  static void add(const std::string& name, std::vector<std::string>& names, bool& any) {
    if (name.empty() || names.size() == most_names)
      any = true;
    else
      names.push_back(name);
  }

  void add(PythonAction action) {
    const bool there = std::ranges::any_of(out_.actions, [&](const auto& each) { return each.name == action.name; });
    if (!action.name.empty() && !there && out_.actions.size() < most_names) out_.actions.push_back(std::move(action));
  }

  static constexpr std::size_t most_names = 10'000;
  Tokens tokens_;
  Token before_, now_;
  std::optional<PythonAction> pending_;
  PythonNames out_;
};

}  // namespace

PythonNames python_names(std::string_view text) { return Reader(text).read(); }

}  // namespace stackgate::guardrail
