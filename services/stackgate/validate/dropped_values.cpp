#include "services/stackgate/validate/dropped_values.hpp"

#include <algorithm>

#include "services/kit/findings/path.hpp"
#include "services/stackgate/validate/document_rules.hpp"
#include "validators/schemas.hpp"

namespace stackgate {

namespace {

using validate::Path;
using validate::schema::Node;

bool holds_null(const json::Value& value) {
  return value.is_null() || std::ranges::any_of(value.items(), holds_null) ||
         std::ranges::any_of(value.members(), [](const json::Member& each) { return holds_null(each.value); });
}

void collect(const Node* node, const json::Value& value, const Path& at, validate::Findings& out) {
  if (node == nullptr) return;
  for (std::size_t i = 0; i < value.items().size(); ++i)
    collect(node->items, value.items()[i], {&at, {}, static_cast<std::int64_t>(i)}, out);
  for (const json::Member& member : value.members()) {
    const Path path{&at, member.key, -1};
    const Node* const field = node->property(member.key);
    if (field == nullptr && node->additional != nullptr && member.value.is_null() && !node->additional->nullable) {
      out.push_back({dropped_value_rule.id, dropped_value_rule.severity, validate::to_string(&path), "",
                     "has no value: the API server drops it without a word", "give it a value, or take it out",
                     member.key_offset});
    } else {
      collect(field != nullptr ? field : node->additional, member.value, path, out);
    }
  }
}

}  // namespace

validate::Findings dropped_values(crds::Kind kind, const json::Value& object) {
  validate::Findings out;
  const json::Value* const spec = object.find("spec");
  if (spec == nullptr || !holds_null(*spec)) return out;
  collect(&validate::spec_node(kind), *spec, {nullptr, "spec", -1}, out);
  return out;
}

}  // namespace stackgate
