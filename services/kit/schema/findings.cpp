#include "services/kit/schema/findings.hpp"

#include <array>
#include <optional>

#include "services/kit/findings/quoting.hpp"
#include "services/kit/grammar/unrendered.hpp"
#include "services/kit/schema/pattern.hpp"

namespace stackgate::validate::schema {
namespace {

/// A text in which a template stands, where the place takes other texts or another type.
std::optional<grammar::Problem> template_in(const SchemaFault& fault) {
  if (fault.value == nullptr || !fault.value->is_string()) return std::nullopt;
  const std::string_view text = fault.value->string();
  const bool all_template = (text.starts_with("{{") || text.starts_with("${")) && text.ends_with('}');
  const bool judged = fault.fault == Fault::type ? all_template
                                                 : is_about_form(fault.fault) || fault.fault == Fault::enumeration ||
                                                       fault.fault == Fault::combination;
  return judged ? grammar::describe_unrendered(text) : std::nullopt;
}

}  // namespace

std::string_view rule_id(Fault fault) {
  // The forms between which our schemas let choose differ by type only.
  static constexpr std::array<std::string_view, 11> ids{
      "schema-type",   "schema-null",    "schema-required", "schema-unknown-field", "schema-enum", "schema-range",
      "schema-length", "schema-pattern", "schema-format",   "schema-duplicate",     "schema-type"};
  return ids[static_cast<std::size_t>(fault)];
}

bool is_about_form(Fault fault) {
  return fault == Fault::pattern || fault == Fault::format || fault == Fault::length || fault == Fault::range;
}

Findings to_findings(std::vector<SchemaFault> faults, std::size_t more) {
  Findings findings;
  findings.reserve(faults.size() + more);
  for (SchemaFault& fault : faults) {
    if (auto unrendered = template_in(fault)) {
      fault.problem = std::move(unrendered->problem);
      fault.fix = std::move(unrendered->fix);
    } else if (fault.pattern != nullptr && fault.problem.empty()) {
      grammar::Problem words = explain_mismatch(*fault.pattern, fault.value->string());
      fault.problem = std::move(words.problem);
      fault.fix = std::move(words.fix);
    }
    // What stands under a name nobody knows may be anything, a password too.
    std::string value = fault.fault == Fault::unknown ? std::string{} : quoted_value(fault.path, fault.value);
    findings.push_back({rule_id(fault.fault), Severity::error, std::move(fault.path), std::move(value),
                        std::move(fault.problem), std::move(fault.fix), fault.offset});
  }
  return findings;
}

}  // namespace stackgate::validate::schema
