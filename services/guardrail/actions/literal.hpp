// A value that a model wrote: data, never an expression. Pure.
#pragma once
#include <string_view>

#include "services/kit/jinja/value.hpp"

namespace stackgate::guardrail {

/// True, False, None (also JSON's words), a number, a text in quotes, a list or dict in JSON; what is none of these is
/// the text itself.
jinja::Value read_literal(std::string_view text);

}  // namespace stackgate::guardrail
