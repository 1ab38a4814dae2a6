// Which offending values may be shown.
#pragma once
#include <string>
#include <string_view>

#include "services/kit/json/value.hpp"

namespace stackgate::validate {

/// `value` as JSON of at most 80 characters (cut with "…"); empty when it is absent, null, a list or object that holds
/// something, or could be a secret: the value of an environment variable, NAME=value in a list of variables, what has
/// user information before an '@', anything under a name such as password, token or apiKey.
std::string quoted_value(std::string_view path, const json::Value* value);

/// Whether `source`, what is shown of the document's text for a finding at `path`, may hold a secret: of the field, or
/// of one that shares its line.
bool source_may_hold_secret(std::string_view path, std::string_view source);

}  // namespace stackgate::validate
