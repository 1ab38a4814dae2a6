#include <algorithm>
#include <initializer_list>

#include "reconcile/plan/plan.hpp"
#include "validators/field.hpp"
#include "validators/schemas.hpp"

namespace stackgate::reconcile {
namespace {

using validate::Field;

class Inputs {
 public:
  /// `keys` are fields beside `name` that hold keys of the object.
  void add(ChildType type, const Field& holder, std::string_view name,
           std::initializer_list<std::string_view> keys = {}, bool needed = true) {
    const Field field = holder[name];
    const auto text = field.text();
    if (!text || text->empty()) return;
    auto found =
        std::ranges::find_if(inputs_, [&](const InputFacts& each) { return each.type == type && each.name == *text; });
    if (found == inputs_.end()) {
      inputs_.push_back({.type = type, .name = std::string(*text), .needed = false});
      found = std::prev(inputs_.end());
    }
    found->needed = found->needed || needed;
    add_field(*found, field);
    for (const std::string_view key : keys)
      if (holder[key]) add_field(*found, holder[key]);
  }
  void secret(const Field& holder, std::string_view name, std::initializer_list<std::string_view> keys = {}) {
    add(ChildType::secret, holder, name, keys);
  }
  void config_map(const Field& holder, std::string_view name) { add(ChildType::config_map, holder, name); }

  void variables(const Field& env) {
    for (const Field& variable : env.items()) {
      const Field from = variable["valueFrom"];
      for (const auto& [type, source] :
           {std::pair{ChildType::secret, "secretKeyRef"}, {ChildType::config_map, "configMapKeyRef"}})
        add(type, from[source], "name", {"key"}, !from[source]["optional"].flag().value_or(false));
    }
  }

  std::vector<InputFacts> take() { return std::move(inputs_); }

 private:
  static void add_field(InputFacts& input, const Field& field) {
    input.fields.push_back("spec." + validate::to_string(field.path()));
  }

  std::vector<InputFacts> inputs_;
};

}  // namespace

// Not among them: pull secrets (kubelet reads them anew), certificates of an Ingress, and what only jobs read: a Job's
// template cannot be changed, and the next one reads anew.
std::vector<InputFacts> inputs_of(crds::Kind kind, const json::Value& spec) {
  validate::Walk walk;
  const Field root = Field::root(walk, spec, &validate::spec_node(kind));
  Inputs out;
  switch (kind) {
    case crds::Kind::inference_cache:
    case crds::Kind::inference_pipeline:
      return {};
    case crds::Kind::inference_service:
      out.secret(root, "authSecret");
      break;
    case crds::Kind::stack_datastore:
      for (const std::string_view name : {"gitAdminSecret", "lfsJwtSecret", "datastoreConfigSecret",
                                          "datastoreInitSecret", "datastoreInlineConfigSecret"})
        out.secret(root["secrets"], name);
      out.secret(root["objectStoreConfig"]["credentials"], "secretName", {"passwordKey"});
      break;
    case crds::Kind::stack_customizer:
      out.secret(root["experimentTracker"], "secretName", {"apiKeyKey", "encryptionKey"});
      out.config_map(root["modelConfig"], "name");
      out.config_map(root["trainingConfig"]["configMap"], "name");
      break;
    case crds::Kind::stack_guardrail:
      out.secret(root["nimEndpoint"], "apiKeySecret", {"apiKeyKey"});
      out.config_map(root["configStore"]["configMap"], "name");
      break;
    case crds::Kind::stack_entitystore:
    case crds::Kind::stack_evaluator:
      break;
  }
  if (kind != crds::Kind::inference_service)
    out.secret(root["databaseConfig"]["credentials"], "secretName", {"passwordKey"});
  out.variables(root["env"]);
  return out.take();
}

}  // namespace stackgate::reconcile
