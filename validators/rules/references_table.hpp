// Which objects a resource names, and whether the specification wants them to exist before it does.
//
// The one place where that is decided. "Required" is what the specification itself demands beforehand:
//   * the datastore's five secrets ("must exist before the resource is created");
//   * for every stack service "required secrets, reachable database and mounted volume are the preconditions": the
//     passwords of database and object store, claims with `create: false`, and the guardrail's configuration store;
//   * the registry key of inference resources ("required at runtime", "must be in the same namespace").
// Everything else is used later, often made by another controller a moment after, and is a warning.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "crds/kinds.hpp"
#include "validators/field.hpp"
#include "validators/lookup.hpp"

namespace stackgate::validate {

constexpr std::uint8_t kind_bit(crds::Kind kind) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(kind));
}
/// Sets of kinds.
namespace kind_bits {
inline constexpr std::uint8_t service = kind_bit(crds::Kind::inference_service);
inline constexpr std::uint8_t cache = kind_bit(crds::Kind::inference_cache);
inline constexpr std::uint8_t pipeline = kind_bit(crds::Kind::inference_pipeline);
inline constexpr std::uint8_t datastore = kind_bit(crds::Kind::stack_datastore);
inline constexpr std::uint8_t entitystore = kind_bit(crds::Kind::stack_entitystore);
inline constexpr std::uint8_t customizer = kind_bit(crds::Kind::stack_customizer);
inline constexpr std::uint8_t evaluator = kind_bit(crds::Kind::stack_evaluator);
inline constexpr std::uint8_t guardrail = kind_bit(crds::Kind::stack_guardrail);
inline constexpr std::uint8_t stack = datastore | entitystore | customizer | evaluator | guardrail;
}  // namespace kind_bits

enum class Demand : std::uint8_t { required, other };

/// Which keys of a Secret or ConfigMap are read.
enum class Keys : std::uint8_t {
  none,     // not looked at
  any,      // at least one, whatever it is called
  fixed,    // `key_names` are the keys
  flat,     // the same, as .yaml, or that file of a folder as a key: strict__config.yml; all keys are a guardrail's
            // configurations
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
  ReferenceKind reference_kind;
  Demand demand;
  Keys keys = Keys::none;
  std::array<std::string_view, 2> key_names{};
  std::string_view secret_type{};  // the type that a Secret must have, or empty
  When when = When::always;
  /// A Secret or ConfigMap that pods which serve read: a change of it restarts them. Not pull secrets (kubelet reads
  /// them anew), certificates of an Ingress, and what only jobs read (the next one reads anew).
  bool restarts = false;
  /// Of those, one whose reader looks for changes itself: a change restarts nothing.
  bool reloaded = false;
};

/// In the order of the kinds; immutable.
std::span<const ReferenceRow> reference_rows();

namespace reference_table {

template <class Visit>
void each_at(const Field& parent, const Field& at, std::string_view path, const Visit& visit) {
  if (path.empty()) return visit(parent, at);
  if (path.starts_with("[]")) {
    path.remove_prefix(path.starts_with("[].") ? 3 : 2);
    for (const Field item : at.items()) each_at(at, item, path, visit);
    return;
  }
  const std::size_t end = std::min(path.find_first_of(".["), path.size());
  const Field child = at[path.substr(0, end)];
  if (!child) return;
  path.remove_prefix(end < path.size() && path[end] == '.' ? end + 1 : end);
  each_at(at, child, path, visit);
}

}  // namespace reference_table

/// Calls visit(parent, field) for each written field at the row's path: `field` holds the name, `parent` what stands
/// beside it.
template <class Visit>
void each_reference(const ReferenceRow& row, const Field& spec, const Visit& visit) {
  reference_table::each_at(spec, spec, row.path, visit);
}

/// Whether the reference counts.
bool counts(When when, const Field& parent);

}  // namespace stackgate::validate
