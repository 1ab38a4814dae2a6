#include "services/guardrail/colang/expression.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/kit/base/concat.hpp"

namespace stackgate::guardrail::colang {
namespace {

constexpr std::array<std::string_view, 11> words = {"and",  "or",   "not",  "in",    "is",     "if",
                                                    "else", "None", "True", "False", "defined"};
constexpr std::array<std::string_view, 3> lower_words = {"none", "true", "false"};
constexpr std::array<std::string_view, 16> functions = {"len",    "str",  "int",   "float", "bool", "abs",
                                                        "min",    "max",  "sum",   "round", "any",  "all",
                                                        "sorted", "list", "range", "dict"};

bool holds(auto const& list, std::string_view word) { return std::ranges::find(list, word) != list.end(); }

char last_before(std::string_view text, std::size_t at) {
  while (at > 0 && text[at - 1] == ' ') --at;
  return at > 0 ? text[at - 1] : '\0';
}
std::size_t skip_spaces(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] == ' ') ++at;
  return at;
}

// Walks an expression once: `$name` becomes ` name`, Python's None, True and False become Jinja's, columns stay.
class Rewriter {
 public:
  Rewriter(const Excerpt& source, Report& report) : source_(source), text_(source.text()), report_(report) {}

  bool rewrite() {
    out = text_;
    std::size_t at = 0;
    while (at < text_.size()) {
      const char c = text_[at];
      if (c == '"' || c == '\'') {
        const std::size_t end = end_of_quoted(text_, at);
        if (end == std::string_view::npos)
          return fault(at, "the text has no closing quotation mark", fmt::format("write {} at its end", c));
        at = end;
      } else if (c == '$') {
        if (!variable(at)) return false;
      } else if (begins_name(c)) {
        if (!word(at)) return false;
      } else if (continues_name(c)) {
        while (at < text_.size() && continues_name(text_[at])) ++at;  // a number
      } else {
        if (!sign(at)) return false;
        ++at;
      }
    }
    return true;
  }

  std::string out;
  std::vector<std::string> reads;

 private:
  bool variable(std::size_t& at) {
    const std::string_view name = name_at(text_, at + 1);
    if (name.empty()) return fault(at, "a variable's name is missing behind \"$\"", "write $ and a name: $answer");
    if (holds(words, name) || holds(lower_words, name))
      return fault(at, concat({"\"$", name, "\" cannot be a variable: \"", name, "\" is a word of expressions"}),
                   "give the variable another name");
    out[at] = ' ';
    if (!holds(reads, name)) reads.emplace_back(name);
    at += 1 + name.size();
    return true;
  }

  bool word(std::size_t& at) {
    const std::string_view name = name_at(text_, at);
    const std::size_t begin = at;
    at += name.size();
    if (last_before(text_, begin) == '.') return true;  // an attribute or a method
    const std::size_t next = skip_spaces(text_, at);
    const char behind = next < text_.size() ? text_[next] : '\0';
    if (name.size() == 1 && behind != '\0' && next == at && (behind == '"' || behind == '\''))
      return fault(begin, concat({"texts of the form ", name, "\"…\" are not supported"}),
                   "put texts together with +: \"Hi \" + str($name)");
    if (name == "None" || name == "True" || name == "False") {
      out[begin] = static_cast<char>(out[begin] - 'A' + 'a');
      return true;
    }
    if (holds(words, name) || holds(lower_words, name)) return true;
    if (name == "for" || name == "lambda" || name == "await" || name == "while")
      return fault(
          begin, concat({"\"", name, "\" cannot stand in an expression"}),
          name == "await" ? "write: $result = execute action_name" : "compute the value in an action and execute that");
    if (behind == '(') {
      if (holds(functions, name)) return true;
      return fault(begin, concat({"there is no function \"", name, "\"", report_.did_you_mean(name, functions)}),
                   concat({"use one of len, str, int, float, bool, abs, min, max, sum, round, any, all, sorted, list, "
                           "range and dict, or execute an action: $value = execute ",
                           name, "(…)"}));
    }
    if (behind == '=' && (next + 1 >= text_.size() || text_[next + 1] != '=') && depth_ > 0) return true;  // f(name=…)
    return fault(begin, concat({"\"", name, "\" is no variable, function or word of expressions"}),
                 concat({"write $", name, " for the variable, \"", name, "\" for the text"}));
  }

  bool sign(std::size_t at) {
    const char c = text_[at];
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
    const char behind = at + 1 < text_.size() ? text_[at + 1] : '\0';
    if (c == '|')
      return fault(at, "\"|\" is not supported", "write \"or\" between conditions; filters belong to prompts");
    if (c == '&') return fault(at, "\"&\" is not supported", "write \"and\" between conditions");
    if (c == '~' || c == '@' || c == '?' || c == ';' || c == '`' || c == '\\')
      return fault(at, fmt::format("\"{}\" cannot stand in an expression", c), "remove it");
    if (c == '!' && behind != '=') return fault(at, "\"!\" is not supported", "write \"not\"");
    if (c == '=' && behind == '=') return true;
    const char before = at > 0 ? text_[at - 1] : '\0';
    if (c == '=' && depth_ == 0 && before != '=' && before != '!' && before != '<' && before != '>')
      return fault(at, "\"=\" assigns and cannot stand in an expression", "write == to compare");
    return true;
  }

  bool fault(std::size_t at, std::string problem, std::string fix) {
    report_.error(rule::expression, source_.place(report_, at), std::move(problem), std::move(fix));
    return false;
  }

  const Excerpt& source_;
  std::string_view text_;
  Report& report_;
  int depth_ = 0;
};

// The end of what follows `$name` in a text: parts `.name` and `[…]`.
std::size_t end_of_path(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (text[at] == '.' && at + 1 < text.size() && begins_name(text[at + 1])) {
      at += 1 + name_at(text, at + 1).size();
    } else if (text[at] == '[') {
      constexpr std::size_t longest_index = 80;
      const std::size_t end = text.substr(0, at + longest_index).find(']', at);
      if (end == std::string_view::npos) return at;
      const std::string_view inside = text.substr(at + 1, end - at - 1);
      const bool number = !inside.empty() && std::ranges::all_of(inside, [](char c) { return c >= '0' && c <= '9'; });
      const bool quoted = inside.size() > 2 && (inside.front() == '\'' || inside.front() == '"') &&
                          end_of_quoted(inside, 0) == inside.size();
      if (!number && !quoted) return at;
      at = end + 1;
    } else {
      return at;
    }
  }
  return at;
}

// Calls `plain` and `path` for the parts of a text in turn.
void walk_text(std::string_view text, auto&& plain, auto&& path) {
  std::size_t done = 0;
  for (std::size_t at = text.find('$'); at != std::string_view::npos; at = text.find('$', at + 1)) {
    const std::string_view name = name_at(text, at + 1);
    if (name.empty()) continue;
    plain(text.substr(done, at - done));
    done = end_of_path(text, at + 1 + name.size());
    path(text.substr(at + 1, done - at - 1), name);
    at = done - 1;
  }
  plain(text.substr(done));
}

/// Its functions know nothing but their arguments. What fails does so when the flow comes there.
std::optional<jinja::Value> constant_of(const Expression& expression) {
  constexpr jinja::Limits little{.steps = 1'000, .output = 1U << 16U, .allocation = 1U << 16U, .calls = 16};
  if (!expression.reads.empty()) return std::nullopt;
  auto value = evaluate(expression, jinja::Value(std::make_shared<const jinja::Dict>()), little);
  if (!value) return std::nullopt;
  return std::move(*value);
}

}  // namespace

std::string_view name_at(std::string_view text, std::size_t at) {
  if (at >= text.size() || !begins_name(text[at])) return {};
  std::size_t end = at;
  while (end < text.size() && continues_name(text[end])) ++end;
  return text.substr(at, end - at);
}

std::optional<Expression> compile_expression(const Excerpt& source, Report& report) {
  Rewriter rewriter(source, report);
  if (!rewriter.rewrite()) return std::nullopt;
  auto compiled = jinja::Expression::parse(rewriter.out, expression_environment());
  if (!compiled) {
    const jinja::Fault& fault = compiled.error();
    const std::size_t column = fault.line == 1 && fault.column > 0 ? fault.column - 1 : 0;
    report.error(rule::expression, source.place(report, std::min(column, source.text().size())),
                 concat({"the expression cannot be read: ", fault.message}),
                 "write it as in Python, variables with $: $count + 1 < len($items)");
    return std::nullopt;
  }
  Expression out{.source = std::string(source.text()),
                 .compiled = *std::move(compiled),
                 .place = source.place(report),
                 .reads = std::move(rewriter.reads)};
  out.constant = constant_of(out);
  out.is_variable = out.reads.size() == 1 && out.source == concat({"$", out.reads.front()});
  return out;
}

Expression text_as_expression(std::string_view text, const Place& place) {
  std::string source = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') source += '\\';
    if (c == '\n')
      source += "\\n";
    else
      source += c;
  }
  source += '"';
  auto compiled = jinja::Expression::parse(source, expression_environment());
  if (!compiled) compiled = jinja::Expression::parse("\"\"", expression_environment());  // beyond the parser's limits
  Expression out{.source = std::move(source), .compiled = *std::move(compiled), .place = place};
  out.constant = constant_of(out);
  return out;
}

std::string unquoted(std::string_view quoted) {
  const std::string_view inside = quoted.substr(1, quoted.size() - 2);
  std::string out;
  out.reserve(inside.size());
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const char next = inside[i] == '\\' && i + 1 < inside.size() ? inside[i + 1] : '\0';
    if (next == '"' || next == '\'' || next == '\\')
      out += next;
    else if (next == 'n')
      out += '\n';
    else if (next == 't')
      out += '\t';
    else {
      out += inside[i];
      continue;
    }
    ++i;
  }
  return out;
}

std::optional<jinja::Template> compile_text(std::string_view text, const Place& at, Report& report) {
  std::string source;
  walk_text(
      text, [&](std::string_view plain) { source += plain; },
      [&](std::string_view path, std::string_view) { source += concat({"{{ ", path, " }}"}); });
  auto compiled = jinja::Template::parse(source);
  if (compiled) return *std::move(compiled);
  report.error(rule::text, at, concat({"the text cannot be read as a template: ", compiled.error().message}),
               "write variables as $name or {{ name }}; filters of Python code belong to prompts: let an action make "
               "the text");
  return std::nullopt;
}

std::string_view only_variable(std::string_view text) {
  const std::string_view name = text.starts_with('$') ? name_at(text, 1) : std::string_view();
  return !name.empty() && end_of_path(text, 1 + name.size()) == text.size() ? name : std::string_view();
}

std::vector<std::string> variables_of_text(std::string_view text) {
  std::vector<std::string> out;
  walk_text(text, [](std::string_view) {}, [&](std::string_view, std::string_view name) { out.emplace_back(name); });
  return out;
}

}  // namespace stackgate::guardrail::colang
