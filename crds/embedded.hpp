// The CRDs as they stand in crds/*.yaml, put into the binary at build time. Immutable, thread-safe.
#pragma once
#include <string_view>

#include "crds/kinds.hpp"

namespace stackgate::crds {

/// The whole CustomResourceDefinition, as the YAML file has it (what `stackgate crds` prints).
std::string_view definition_yaml(Kind kind);

/// The same as compact JSON.
std::string_view definition_json(Kind kind);

/// The grammar that one of the definitions' patterns states ("dns-label"), named beside it in crds/source; empty for
/// the other patterns.
std::string_view grammar_of(std::string_view pattern);

/// A sample object in YAML, from crds/samples/{minimal,full}/<plural>.yaml.
std::string_view minimal_sample(Kind kind);
std::string_view full_sample(Kind kind);

/// A sample object with several faults that people really make, from crds/samples/bad/<plural>.yaml.
std::string_view bad_sample(Kind kind);

/// A whole stack that fits together, with the Secrets and ConfigMaps it refers to, from crds/samples/stack.yaml.
std::string_view stack_sample();

}  // namespace stackgate::crds
