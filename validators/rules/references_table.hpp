// Which objects a resource names, and whether the specification wants them to exist before it does.
//
// The one place where that is decided. "Required" is what the specification itself demands beforehand:
//   * the datastore's five secrets ("must exist before the resource is created");
//   * for every stack service "required secrets, reachable database and mounted volume are the preconditions": the
//     passwords of database and object store, claims with `create: false`, and the guardrail's configuration store;
//   * the registry key of inference resources ("required at runtime", "must be in the same namespace").
// Everything else is used later, often made by another controller a moment after, and is a warning.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "crds/kinds.hpp"
#include "validators/lookup.hpp"

namespace stackgate::validate {

enum class Demand : std::uint8_t { required, other };

/// Which keys of a Secret or ConfigMap are read.
enum class Keys : std::uint8_t {
  none,     // not looked at
  any,      // at least one, whatever it is called
  fixed,    // `key_names` are the keys
  written,  // `key_names` are fields beside the name, which hold the keys
};

/// Whether the reference counts, by a field beside the name.
enum class When : std::uint8_t {
  always,
  created,      // `create` is true
  not_created,  // `create` is not true
  enabled,      // `enabled` is true
  mandatory,    // `optional` is not true
};

struct ReferenceRow {
  std::uint8_t kinds;     // a bit for each crds::Kind
  std::string_view path;  // below spec; "[]" stands for each item
  Referent referent;
  Demand demand;
  Keys keys = Keys::none;
  std::array<std::string_view, 2> key_names{};
  std::string_view secret_type{};  // the type that a Secret must have, or empty
  When when = When::always;
};

/// In the order of the kinds; immutable.
std::span<const ReferenceRow> reference_rows();

constexpr std::uint8_t kind_bit(crds::Kind kind) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(kind));
}

}  // namespace stackgate::validate
