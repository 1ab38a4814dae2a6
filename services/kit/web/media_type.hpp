// Content-Type and Accept (RFC 9110, 8.3 and 12.5.1). Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace stackgate::web {

/// "application/json" of "Application/JSON; charset=utf-8": lower case, without parameters.
std::string media_type(std::string_view content_type);
/// The same type, whatever its parameters and case.
bool is_media_type(std::string_view content_type, std::string_view wanted);
/// application/json, or any type that ends in +json.
bool is_json_type(std::string_view content_type);
/// A parameter's value, unquoted: media_parameter("a/b; boundary=\"x y\"", "boundary") is "x y".
std::optional<std::string> media_parameter(std::string_view content_type, std::string_view name);
/// Whether an Accept header takes a type; an empty header takes everything, q=0 takes nothing.
bool accepts(std::string_view accept, std::string_view type);

}  // namespace stackgate::web
