// The schema check of a whole object as findings of the book.
#pragma once
#include "crds/kinds.hpp"
#include "services/kit/json/value.hpp"
#include "validators/finding.hpp"
#include "validators/schema/check.hpp"

namespace stackgate::validate {

/// The rule that stands for a broken schema keyword.
const Rule& rule_of(schema::Fault fault);

/// Schema faults of `object`, in document order. The status is passed over: users do not write it.
Findings check_structure(crds::Kind kind, const json::Value& object);

/// Drops from `found` what only repeats a schema fault: anything at the place of one, or inside a value that has the
/// wrong type.
void drop_echoes(const Findings& structure, Findings& found);

}  // namespace stackgate::validate
