// A template of the request over `item`, a row, and `sample`, what was answered. Texts of rows and models are values:
// they are never read as templates. Pure and thread-safe.
#pragma once
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/endpoint/protocol/answer.hpp"
#include "services/kit/findings/finding.hpp"
#include "services/kit/jinja/template.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::evaluator {

class RowTemplate {
 public:
  /// What is wrong with it is a finding at `path`.
  static std::optional<RowTemplate> parse(std::string_view path, std::string_view source, validate::Findings& findings);

  /// The error says what is wrong and where in the template: also a name that is not there.
  std::expected<std::string, std::string> text(const jinja::Value& context) const;
  /// Several where the template is one expression, and its value a list of texts; else text()'s.
  std::expected<std::vector<std::string>, std::string> texts(const jinja::Value& context) const;

 private:
  explicit RowTemplate(jinja::Template whole) : whole_(std::move(whole)) {}
  jinja::Template whole_;
  std::optional<jinja::Expression> expression_{};
};

/// {"item": …, "sample": {"output_text", "response": the body of a chat's answer}}; without an answer, `item` alone.
/// The error: the row is nested too deep.
std::expected<jinja::Value, std::string> row_context(const json::Value& item, const Answer* answer);

}  // namespace stackgate::evaluator
