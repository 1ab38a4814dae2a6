#include <algorithm>
#include <initializer_list>

#include "reconcile/plan/plan.hpp"
#include "validators/field.hpp"
#include "validators/schemas.hpp"

namespace stackgate::reconcile {
namespace {

using validate::Field;

class InputNames {
 public:
  void add(ChildType type, const Field& name) {
    const auto text = name.text();
    if (!text || text->empty()) return;
    InputName input{type, std::string(*text)};
    if (std::ranges::find(names_, input) == names_.end()) names_.push_back(std::move(input));
  }
  void secret(const Field& name) { add(ChildType::secret, name); }
  void config_map(const Field& name) { add(ChildType::config_map, name); }

  std::vector<InputName> take() { return std::move(names_); }

 private:
  std::vector<InputName> names_;
};

void add_variables(InputNames& out, const Field& env) {
  for (const Field& variable : env.items()) {
    const Field from = variable["valueFrom"];
    if (from.absent()) continue;
    out.secret(from["secretKeyRef"]["name"]);
    out.config_map(from["configMapKeyRef"]["name"]);
  }
}

}  // namespace

// Not among them: pull secrets (kubelet reads them anew), certificates of an Ingress, and what only jobs read: a Job's
// template cannot be changed, and the next one reads anew.
std::vector<InputName> inputs_of(crds::Kind kind, const json::Value& spec) {
  validate::Walk walk;
  const Field root = Field::root(walk, spec, &validate::spec_node(kind));
  InputNames out;
  switch (kind) {
    case crds::Kind::inference_cache:
    case crds::Kind::inference_pipeline:
      return {};
    case crds::Kind::inference_service:
      out.secret(root["authSecret"]);
      break;
    case crds::Kind::stack_datastore:
      for (const std::string_view name : {"gitAdminSecret", "lfsJwtSecret", "datastoreConfigSecret",
                                          "datastoreInitSecret", "datastoreInlineConfigSecret"})
        out.secret(root["secrets"][name]);
      out.secret(root["objectStoreConfig"]["credentials"]["secretName"]);
      break;
    case crds::Kind::stack_customizer:
      out.secret(root["experimentTracker"]["secretName"]);
      out.config_map(root["modelConfig"]["name"]);
      out.config_map(root["trainingConfig"]["configMap"]["name"]);
      break;
    case crds::Kind::stack_guardrail:
      out.secret(root["nimEndpoint"]["apiKeySecret"]);
      out.config_map(root["configStore"]["configMap"]["name"]);
      break;
    case crds::Kind::stack_entitystore:
    case crds::Kind::stack_evaluator:
      break;
  }
  if (kind != crds::Kind::inference_service) out.secret(root["databaseConfig"]["credentials"]["secretName"]);
  add_variables(out, root["env"]);
  return out.take();
}

}  // namespace stackgate::reconcile
