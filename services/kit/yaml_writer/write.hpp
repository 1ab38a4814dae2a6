// JSON trees as YAML for people, through yaml-cpp's emitter: block style, two spaces, in the order of the tree.
#pragma once
#include <string>

#include "services/kit/json/value.hpp"

namespace stackgate::yaml {

/// One document, which ends with a line feed. Reading it as kubectl does (kit/yaml) gives an equal tree; the one
/// exception are Unicode's noncharacters (U+FFFE and the like), which become U+FFFD. Pure and thread-safe.
std::string to_yaml(const json::Value& tree);

}  // namespace stackgate::yaml
