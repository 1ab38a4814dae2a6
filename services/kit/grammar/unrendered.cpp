#include "services/kit/grammar/unrendered.hpp"

namespace stackgate::validate::grammar {

bool holds_template(std::string_view text) {
  const auto has = [&](std::string_view open, std::string_view close) {
    const std::size_t at = text.find(open);
    return at != std::string_view::npos && text.find(close, at + open.size()) != std::string_view::npos;
  };
  return has("{{", "}}") || has("${", "}");
}

std::optional<Problem> describe_unrendered(std::string_view text) {
  if (!holds_template(text)) return std::nullopt;
  return Problem{"looks like a template that was not rendered",
                 "render the template first, or write the value that it stands for"};
}

}  // namespace stackgate::validate::grammar
