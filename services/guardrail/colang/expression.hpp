// Colang's Python-like expressions and its texts, made ready for kit/jinja.
#pragma once
#include <optional>
#include <string_view>

#include "services/guardrail/colang/lines.hpp"
#include "services/guardrail/colang/program.hpp"
#include "services/guardrail/colang/report.hpp"

namespace stackgate::guardrail::colang {

/// A part of a line: text[begin…end].
struct Excerpt {
  std::uint32_t file = 0;
  const Line* line = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;

  std::string_view text() const { return std::string_view(line->text).substr(begin, end - begin); }
  Place place(const Report& report, std::size_t at = 0) const { return report.place(file, line->offset(begin + at)); }
};

/// Nothing, and a finding, for what is none.
std::optional<Expression> compile_expression(const Excerpt& source, Report& report);
/// A text as an expression: it stands for itself.
Expression text_as_expression(std::string_view text, const Place& place);

/// A quoted text, with its quotation marks, without them: \" \\ \n \t stand for what they mean, other backslashes for
/// themselves.
std::string unquoted(std::string_view quoted);
/// A bot's text as a template: `$name`, `$name.part` and `$name[0]` become `{{ name }}`. `at` is where it stands.
std::optional<jinja::Template> compile_text(std::string_view text, const Place& at, Report& report);
/// The variables that compile_text() finds in a text.
std::vector<std::string> variables_of_text(std::string_view text);
/// The variable that a text is the value of, or of which it is a part: "answer" of "$answer" and "$answer.text"; ""
/// when there is more in it.
std::string_view only_variable(std::string_view text);

constexpr bool begins_name(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool continues_name(char c) { return begins_name(c) || (c >= '0' && c <= '9'); }
/// The name that begins at `at`: letters, digits, underscores; empty when there is none.
std::string_view name_at(std::string_view text, std::size_t at);

}  // namespace stackgate::guardrail::colang
