// The keys of config.yml: types, bounds, defaults, and which are not served. One table; README.md shows it. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "services/guardrail/configuration/report.hpp"
#include "services/guardrail/configuration/tree.hpp"

namespace stackgate::guardrail {

enum class KeyKind : std::uint8_t {
  flag,
  text,
  number,    // from `least` to `most`
  whole,     // the same, without a fraction
  texts,     // a list of texts
  mapping,   // its members are in the table
  mappings,  // a list of them; their paths have "[]" behind the key
  free,      // a mapping of the user's own members
  any,
};

struct Key {
  std::string_view path;  // "rails.output.streaming.chunk_size", "models[].type"
  KeyKind kind = KeyKind::any;
  std::string_view unsupported{};  // why it has no effect here
  std::string_view fallback{};     // what `$config` holds when it is absent, as JSON
  bool needed = false;             // in its mapping
  double least = 0, most = 1e9;
};
std::span<const Key> known_keys();

/// Types, bounds and names of everything. What is wrong is an error, what is unknown or not served a warning.
void check_keys(const Tree& root, Report& report);

/// `$config` of flows: the tree with the defaults filled in.
jinja::Value config_value(const Tree& root);

}  // namespace stackgate::guardrail
