#include "validators/structure.hpp"

#include <algorithm>
#include <array>

#include "validators/grammar/unrendered.hpp"
#include "validators/rule_ids.hpp"
#include "validators/rules/quoting.hpp"
#include "validators/schema/pattern.hpp"
#include "validators/schemas.hpp"

namespace stackgate::validate {
namespace {

using schema::Fault;
using schema::SchemaFault;

bool same_or_inside(std::string_view path, std::string_view of) {
  return path.starts_with(of) && (path.size() == of.size() || path[of.size()] == '.' || path[of.size()] == '[');
}

/// Nothing inside such a value can be judged.
bool hides_inside(Fault fault) {
  return fault == Fault::type || fault == Fault::combination || fault == Fault::null_value || fault == Fault::unknown ||
         fault == Fault::duplicate;
}

bool is_about_form(Fault fault) {
  return fault == Fault::pattern || fault == Fault::format || fault == Fault::length || fault == Fault::range;
}

/// A text in which a template stands, where the place takes other texts or another type.
std::optional<grammar::Problem> template_in(const SchemaFault& fault) {
  if (fault.value == nullptr || !fault.value->is_string()) return std::nullopt;
  const std::string_view text = fault.value->string();
  const bool all_template = (text.starts_with("{{") || text.starts_with("${")) && text.ends_with('}');
  const bool judged = fault.fault == Fault::type ? all_template
                                                 : is_about_form(fault.fault) || fault.fault == Fault::enumeration ||
                                                       fault.fault == Fault::combination;
  return judged ? grammar::say_unrendered(text) : std::nullopt;
}

}  // namespace

bool is_grammar_rule(std::string_view rule) {
  static const std::array ids{rule::annotation_grammar.id,  rule::cache_tensor_parallelism.id,
                              rule::database_host.id,       rule::duration.id,
                              rule::endpoint_url.id,        rule::env_name.id,
                              rule::git_revision.id,        rule::gpu_count.id,
                              rule::image_reference.id,     rule::image_repository.id,
                              rule::image_tag.id,           rule::ingress_host.id,
                              rule::ingress_path.id,        rule::label_grammar.id,
                              rule::mount_path_invalid.id,  rule::object_name.id,
                              rule::object_store_bucket.id, rule::object_store_endpoint.id,
                              rule::object_store_region.id, rule::probe_success_threshold.id,
                              rule::pvc_sub_path.id,        rule::quantity.id,
                              rule::queue_name_invalid.id,  rule::repository_name.id,
                              rule::resource_name.id,       rule::secret_key_name.id,
                              rule::storage_class_name.id,  rule::sysctl_name.id,
                              rule::toleration_key.id,      rule::toleration_value.id,
                              rule::topology_key.id,        rule::url_user_info.id,
                              rule::vector_db_endpoint.id};
  return std::ranges::find(ids, rule) != ids.end();
}

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
      return rule::schema_type;  // the forms that our CRDs allow differ by type only
  }
  return rule::schema_type;
}

std::vector<SchemaFault> check_structure(crds::Kind kind, const json::Value& object, std::size_t max_faults,
                                         bool* left_out) {
  schema::CheckOptions options;
  options.max_faults = max_faults + 1;  // one more than is told: whether there are more
  options.explain_mismatches = false;
  std::vector<SchemaFault> faults = schema::check(schema_of(kind).root(), object, nullptr, options);
  const bool cut = faults.size() > max_faults;
  if (cut) faults.pop_back();
  if (left_out != nullptr) *left_out = cut;
  std::erase_if(faults, [](const SchemaFault& fault) { return same_or_inside(fault.path, "status"); });
  return faults;
}

void drop_echoes(std::vector<SchemaFault>& structure, Findings& found) {
  if (structure.empty() || found.empty()) return;
  std::erase_if(structure, [&](const SchemaFault& fault) {
    return is_about_form(fault.fault) && std::ranges::any_of(found, [&](const Finding& each) {
             return each.path == fault.path && is_grammar_rule(each.rule);
           });
  });
  std::erase_if(found, [&](const Finding& each) {
    return std::ranges::any_of(structure, [&](const SchemaFault& fault) {
      return each.path == fault.path || (hides_inside(fault.fault) && same_or_inside(each.path, fault.path));
    });
  });
}

Findings to_findings(std::vector<SchemaFault> structure, std::size_t more) {
  Findings findings;
  findings.reserve(structure.size() + more);
  for (SchemaFault& fault : structure) {
    const Rule& rule = rule_of(fault.fault);
    if (auto unrendered = template_in(fault)) {
      fault.problem = std::move(unrendered->problem);
      fault.fix = std::move(unrendered->fix);
    } else if (fault.pattern != nullptr && fault.problem.empty()) {
      grammar::Problem words = schema::explain_mismatch(*fault.pattern, fault.value->string());
      fault.problem = std::move(words.problem);
      fault.fix = std::move(words.fix);
    }
    // What stands under a name nobody knows may be anything, a password too.
    std::string value = fault.fault == schema::Fault::unknown ? std::string{} : quoted_value(fault.path, fault.value);
    findings.push_back({rule.id, rule.severity, std::move(fault.path), std::move(value), std::move(fault.problem),
                        std::move(fault.fix), fault.offset});
  }
  return findings;
}

}  // namespace stackgate::validate
