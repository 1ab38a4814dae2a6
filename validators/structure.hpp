// The schema check of a whole object as findings of the book.
#pragma once
#include <vector>

#include "crds/kinds.hpp"
#include "services/kit/json/value.hpp"
#include "validators/finding.hpp"
#include "validators/schema/check.hpp"

namespace stackgate::validate {

/// The rule that stands for a broken schema keyword.
const Rule& rule_of(schema::Fault fault);

/// Schema faults of `object`, in document order, mismatches of patterns not yet explained. The status is passed over:
/// users do not write it.
std::vector<schema::SchemaFault> check_structure(crds::Kind kind, const json::Value& object,
                                                 std::size_t max_faults = schema::CheckOptions{}.max_faults);

/// Leaves one finding per fault. A grammar's finding replaces the schema's about the form of the same value, since it
/// has better words; otherwise what stands at the place of a schema fault, or inside a value of the wrong type, goes.
void drop_echoes(std::vector<schema::SchemaFault>& structure, Findings& found);

/// In the book's words.
Findings to_findings(std::vector<schema::SchemaFault> structure);

}  // namespace stackgate::validate
