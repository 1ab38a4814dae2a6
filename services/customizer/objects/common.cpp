#include <fmt/format.h>

#include "services/customizer/objects/parts.hpp"
#include "services/kit/base/base64.hpp"

namespace stackgate::customizer {

using namespace objects;

WorkspacePaths workspace_paths(const JobSetup& setup) {
  const std::string& top = setup.workspace.mount_path;
  const std::string slash = top.ends_with('/') ? "" : "/";
  return {.dataset = fmt::format("{}{}dataset", top, slash),
          .output = fmt::format("{}{}adapter", top, slash),
          .archive = fmt::format("{}{}adapter.tar.gz", top, slash)};
}

std::vector<PlannedObject> common_objects(const TrainingJob& job, const JobSetup& setup) {
  const std::string name = object_name(job.id);
  const pods::TextMap labels = labels_of(job.id);
  std::vector<PlannedObject> out;
  out.push_back(
      object(kube::types::persistent_volume_claims, "PersistentVolumeClaim", setup, name, labels, [&](auto& w) {
        w.object("spec", [&] {
          w.array("accessModes", [&] { w.value(setup.workspace.access_mode); });
          // An empty class is a choice, too: none.
          if (setup.workspace.storage_class) w.member("storageClassName", *setup.workspace.storage_class);
          w.object("resources", [&] { w.object("requests", [&] { w.member("storage", setup.workspace.size); }); });
        });
      }));
  const std::string config =
      json::object_text([&](json::Writer& w) { model::write_hyperparameters(w, job.hyperparameters); });
  out.push_back(object(kube::types::config_maps, "ConfigMap", setup, name, labels, [&](auto& w) {
    w.object("data", [&] { w.member("config.json", config); });
    w.member("immutable", true);
  }));
  out.push_back(object(kube::types::secrets, "Secret", setup, name, labels, [&](auto& w) {
    w.object("data", [&] { w.member("token", base64::encode(job.progress_token)); });
    w.member("immutable", true);
    w.member("type", "Opaque");
  }));
  return out;
}

}  // namespace stackgate::customizer
