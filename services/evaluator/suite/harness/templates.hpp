// What a task makes of a row: Jinja2 as lm-evaluation-harness sets it up (no blocks trimmed, the last line end kept,
// undefined values are faults, the filter regex_replace). Pure and thread-safe.
#pragma once
#include <expected>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/suite/harness/config.hpp"
#include "services/kit/jinja/template.hpp"

namespace stackgate::evaluator::harness {

/// Names of a data set's columns: those of its first row.
using Columns = std::set<std::string, std::less<>>;

class RowTemplate {
 public:
  /// The error is about the template.
  static std::expected<RowTemplate, std::string> compile(const Source& source, const Columns& columns);

  bool is_set() const { return source_.is_set(); }
  /// Of a row, which is a dict: the column's value, or the text; a list for a list. Errors are sentences.
  std::expected<jinja::Value, std::string> of(const jinja::Value& row) const;
  /// Whether `of` gives a template's text, which may stand for something else.
  bool is_template() const { return template_.has_value(); }

 private:
  Source source_{};
  bool is_column_ = false;
  std::optional<jinja::Template> template_{};
};

/// What doc_to_text, doc_to_target and doc_to_choice make of a row, read as the harness reads them.
struct Doc {
  jinja::Value text{}, target{};  // a text; an integer: the number of a choice; a list
  std::vector<std::string> choices{};

  /// Choices are contexts, of which doc_to_text names the right one, and the target follows each.
  bool has_many_contexts() const { return text.integer() != nullptr && !choices.empty(); }
};

struct DocTemplates {
  RowTemplate text{}, target{}, choice{};
  std::expected<Doc, std::string> of(const jinja::Value& row) const;
};

/// Python's str().
std::string python_text(const jinja::Value& value);

}  // namespace stackgate::evaluator::harness
