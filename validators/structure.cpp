#include "validators/structure.hpp"

#include <algorithm>

#include "validators/rule_ids.hpp"
#include "validators/rules/quoting.hpp"
#include "validators/schemas.hpp"

namespace stackgate::validate {
namespace {

bool same_or_inside(std::string_view path, std::string_view of) {
  return path.starts_with(of) && (path.size() == of.size() || path[of.size()] == '.' || path[of.size()] == '[');
}

bool hides_inside(std::string_view rule) {
  return rule == rule::schema_type.id || rule == rule::schema_null.id || rule == rule::schema_unknown_field.id ||
         rule == rule::schema_duplicate.id;
}

}  // namespace

const Rule& rule_of(schema::Fault fault) {
  switch (fault) {
    case schema::Fault::type:
      return rule::schema_type;
    case schema::Fault::null_value:
      return rule::schema_null;
    case schema::Fault::required:
      return rule::schema_required;
    case schema::Fault::unknown:
      return rule::schema_unknown_field;
    case schema::Fault::enumeration:
      return rule::schema_enum;
    case schema::Fault::range:
      return rule::schema_range;
    case schema::Fault::length:
      return rule::schema_length;
    case schema::Fault::pattern:
      return rule::schema_pattern;
    case schema::Fault::format:
      return rule::schema_format;
    case schema::Fault::duplicate:
      return rule::schema_duplicate;
    case schema::Fault::combination:
      return rule::schema_combination;
  }
  return rule::schema_type;
}

Findings check_structure(crds::Kind kind, const json::Value& object) {
  Findings findings;
  for (schema::SchemaFault& fault : schema::check(schema_of(kind).root(), object)) {
    if (same_or_inside(fault.path, "status")) continue;
    const Rule& rule = rule_of(fault.fault);
    // What stands under a name nobody knows may be anything, a password too.
    std::string value = fault.fault == schema::Fault::unknown ? std::string{} : quoted_value(fault.path, fault.value);
    findings.push_back({rule.id, rule.severity, std::move(fault.path), std::move(value), std::move(fault.problem),
                        std::move(fault.fix), fault.offset});
  }
  return findings;
}

void drop_echoes(const Findings& structure, Findings& found) {
  if (structure.empty()) return;
  std::erase_if(found, [&](const Finding& each) {
    return std::ranges::any_of(structure, [&](const Finding& fault) {
      return each.path == fault.path || (hides_inside(fault.rule) && same_or_inside(each.path, fault.path));
    });
  });
}

}  // namespace stackgate::validate
