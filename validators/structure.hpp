// The schema check of a whole object as findings of the book.
#pragma once
#include <string_view>
#include <vector>

#include "crds/kinds.hpp"
#include "services/kit/json/value.hpp"
#include "validators/finding.hpp"
#include "validators/schema/check.hpp"

namespace stackgate::validate {

/// The rule that stands for a broken schema keyword.
const Rule& rule_of(schema::Fault fault);

/// Schema faults of `object`, in document order, mismatches of patterns not yet explained. The status is passed over:
/// users do not write it. `left_out`, where given, becomes whether there are more than `max_faults`.
std::vector<schema::SchemaFault> check_structure(crds::Kind kind, const json::Value& object,
                                                 std::size_t max_faults = schema::CheckOptions{}.max_faults,
                                                 bool* left_out = nullptr);

/// Rules that hold a grammar which the CRD's patterns, lengths and ranges hold too, and have better words for it.
bool is_grammar_rule(std::string_view rule);

/// Leaves one finding per fault. A grammar's finding replaces the schema's about the form of the same value, since it
/// has better words; otherwise what stands at the place of a schema fault, or inside a value of the wrong type, goes.
void drop_echoes(std::vector<schema::SchemaFault>& structure, Findings& found);

/// In the book's words, with room for so many `more`.
Findings to_findings(std::vector<schema::SchemaFault> structure, std::size_t more = 0);

}  // namespace stackgate::validate
