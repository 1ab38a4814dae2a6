#include "services/customizer/runs/cluster/first_attempts.hpp"

#include <utility>

#include "services/kit/json/read.hpp"

namespace stackgate::customizer {

std::vector<FirstObject> first_attempts(const TrainingJob& job, const JobSetup& setup,
                                        const ContainerDefaults& defaults) {
  std::vector<FirstObject> out;
  const auto add = [&](std::string_view stage, std::vector<PlannedObject> planned) {
    for (PlannedObject& each : planned) {
      bool valid = false;
      kube::Object body = kube::Object::parse(each.body, valid);
      out.push_back({stage, std::move(each), std::move(body)});
    }
  };
  add("", common_objects(job, setup));
  add("download", download_objects(job, setup, {}, 1));
  add("training", training_objects(job, setup, defaults, {}, 1));
  add("upload", upload_objects(job, setup, {}, "{}", {}, 1));
  return out;
}

std::vector<PodTemplate> pod_templates(const FirstObject& object) {
  if (object.planned.type.plural != "jobs") return {};
  const json::Value& root = object.body.root();
  if (object.planned.type.group == "batch")
    return {{json::value_at(&root, {"spec", "template", "spec"}), json::integer(&root, {"spec", "parallelism"}, 1)}};
  std::vector<PodTemplate> out;
  for (const json::Value& task : json::items(&root, {"spec", "tasks"}))
    out.push_back({json::value_at(&task, {"template", "spec"}), json::integer(&task, {"replicas"}, 1)});
  return out;
}

}  // namespace stackgate::customizer
