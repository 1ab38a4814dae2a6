// A configuration inside of a body: an object as config.yml has it, or its text. Pure.
#pragma once
#include <vector>

#include "services/guardrail/api/fields.hpp"
#include "services/guardrail/configuration/configuration.hpp"

namespace stackgate::guardrail {

/// "config.yml", and "config.co" of the member `colang_content`. `path`: where it stood, for findings.
std::vector<File> inline_files(const json::Value& config, std::string_view path);

}  // namespace stackgate::guardrail
