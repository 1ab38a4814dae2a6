// Names of adapters and namespaces, and what they are called in the datastore. Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace stackgate::entitystore {

/// 1 to 64 letters, digits, '-', '_', '.', a letter or digit at both ends. Nothing, or what is wrong.
std::optional<std::string> fault_of_name(std::string_view name);
/// 1 to 32 of the same, without "--".
std::optional<std::string> fault_of_namespace(std::string_view name);

/// "<owner>/<namespace>--<name>": no two adapters share one, because a namespace holds no "--".
std::string repository_of(std::string_view owner, std::string_view name_space, std::string_view name);
/// "v1.2.0"
std::string tag_of(std::string_view version);

}  // namespace stackgate::entitystore
