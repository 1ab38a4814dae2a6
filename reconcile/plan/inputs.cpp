#include <algorithm>
#include <bit>

#include "reconcile/plan/plan.hpp"
#include "validators/field.hpp"
#include "validators/rules/references_table.hpp"
#include "validators/schemas.hpp"

namespace stackgate::reconcile {
namespace {

using validate::Field;
using validate::ReferenceRow;

struct Named {
  const ReferenceRow* row;
  Field parent, field;
};

/// Where the kind names objects. The order decides about the pods' inputs annotation, and so about restarts: a kind's
/// own fields first, then those that several kinds share, then lists by their items.
template <class Wanted>
std::vector<Named> named_by(crds::Kind kind, const Field& spec, Wanted&& wanted) {
  std::vector<Named> out;
  for (const ReferenceRow& row : validate::reference_rows())
    if ((row.kinds & validate::kind_bit(kind)) != 0 && wanted(row))
      validate::each_reference(row, spec, [&](const Field& parent, const Field& field) {
        if (const auto name = field.text(); name && !name->empty()) out.push_back({&row, parent, field});
      });
  const auto place = [](const Named& each) {
    const int group = each.row->path.contains("[]") ? 2 : std::has_single_bit(each.row->kinds) ? 0 : 1;
    return std::pair(group, group == 2 ? each.field.offset() : 0);
  };
  std::ranges::stable_sort(out, {}, place);
  return out;
}

std::string path_of(const Field& field) { return "spec." + validate::to_string(field.path()); }

}  // namespace

std::vector<InputFacts> inputs_of(crds::Kind kind, const json::Value& spec) {
  validate::Walk walk;
  const Field root = Field::root(walk, spec, &validate::spec_node(kind));
  std::vector<InputFacts> out;
  for (const auto& [row, parent, field] :
       named_by(kind, root, [](const ReferenceRow& each) { return each.restarts; })) {
    const ChildType type =
        row->reference_kind == validate::ReferenceKind::secret ? ChildType::secret : ChildType::config_map;
    const std::string_view name = *field.text();
    auto found = std::ranges::find_if(out, [&](const auto& each) { return each.type == type && each.name == name; });
    if (found == out.end()) {
      out.push_back({.type = type, .name = std::string(name), .needed = false, .reloaded = true});
      found = std::prev(out.end());
    }
    found->needed = found->needed || validate::counts(row->when, parent);
    found->reloaded = found->reloaded && row->reloaded;
    found->fields.push_back(path_of(field));
    if (row->keys != validate::Keys::written) continue;
    for (const std::string_view key : row->key_names)
      if (!key.empty() && parent[key]) found->fields.push_back(path_of(parent[key]));
  }
  return out;
}

std::vector<std::string> names_of(validate::ReferenceKind wanted, crds::Kind kind, const json::Value& spec) {
  validate::Walk walk;
  const Field root = Field::root(walk, spec, &validate::spec_node(kind));
  std::vector<std::string> out;
  for (const Named& each :
       named_by(kind, root, [wanted](const ReferenceRow& row) { return row.reference_kind == wanted; }))
    out.emplace_back(*each.field.text());
  return out;
}

}  // namespace stackgate::reconcile
