// Faults of a schema check as findings. Pure.
#pragma once
#include <string_view>
#include <vector>

#include "services/kit/findings/finding.hpp"
#include "services/kit/schema/check.hpp"

namespace stackgate::validate::schema {

/// The rule that stands for a broken keyword, "schema-type". Each has a page in the rule book, with severity error.
std::string_view rule_id(Fault fault);

/// Whether the value has the right type and only its form is wrong: pattern, format, length, range.
bool is_about_form(Fault fault);

/// One finding for each fault, in the same order, with room for so many `more`. Values that could be secrets are left
/// out; what a template stands in is named as such.
Findings to_findings(std::vector<SchemaFault> faults, std::size_t more = 0);

}  // namespace stackgate::validate::schema
