// Texts that a template engine or a shell should have filled in before.
#pragma once
#include <optional>
#include <string_view>

#include "services/kit/grammar/problem.hpp"

namespace stackgate::validate::grammar {

/// Whether `text` holds `{{ … }}` (Go templates, Jinja) or `${…}` (shells, envsubst). Kubernetes' own `$(NAME)` is
/// none.
bool holds_template(std::string_view text);

/// What to say in place of a grammar's own words where `text` holds such a template; it does not repeat the text.
std::optional<Problem> describe_unrendered(std::string_view text);

}  // namespace stackgate::validate::grammar
