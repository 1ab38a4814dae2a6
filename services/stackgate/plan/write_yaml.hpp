// JSON trees as YAML for people: block style, two spaces, plain words where no reader takes them for anything else.
#pragma once
#include <string>

#include "services/kit/json/value.hpp"

namespace stackgate {

/// Ends with a line feed. Reading it as kubectl does (kit/yaml) gives an equal tree.
std::string to_yaml(const json::Value& tree);

}  // namespace stackgate
