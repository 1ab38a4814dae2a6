// What is reviewed, and how.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "crds/kinds.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::validate {

/// How faults in references to other objects are reported.
enum class References : std::uint8_t { off, warn, deny };

struct Options {
  /// What the specification says must exist before the resource is created.
  References required_references = References::deny;
  /// Everything else the resource names.
  References other_references = References::warn;
  /// Names of extended resources that count as a GPU beside any that ends in "/gpu".
  std::vector<std::string> gpu_resources;
};

struct Request {
  crds::Kind kind;
  const json::Value* object = nullptr;  // the resource as it shall be
  const json::Value* old = nullptr;     // as it is stored; nullptr on creation
  std::string_view ns;                  // where metadata.namespace is not written (kubectl -n)
};

}  // namespace stackgate::validate
