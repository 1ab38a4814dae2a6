// What the model is asked, with what was retrieved. Pure.
#pragma once
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "services/kit/jinja/template.hpp"

namespace stackgate::evaluator {

/// A Jinja template over `item` (the row), `question`, `contexts` (a list) and `context` (all of them, with a line
/// between them); without one, ours. Values are inserted as values, never read as templates.
class RagPrompt {
 public:
  /// The error is a sentence with line and column.
  static std::expected<RagPrompt, std::string> parse(std::string_view source);

  std::expected<std::string, std::string> render(std::string_view row, std::string_view question,
                                                 std::span<const std::string> contexts) const;

 private:
  std::optional<jinja::Template> template_{};
};

}  // namespace stackgate::evaluator
