#include <fmt/format.h>

#include "services/customizer/objects/parts.hpp"

namespace stackgate::customizer {
namespace upload_detail {

using namespace objects;

constexpr std::string_view metadata_path = "/etc/stackgate/upload";

/// The node by its name: a label of its host name may be another one.
std::string on_node(std::string_view node) {
  return json::object_text([&](json::Writer& w) {
    w.object("nodeAffinity", [&] {
      w.object("requiredDuringSchedulingIgnoredDuringExecution", [&] {
        w.array("nodeSelectorTerms", [&] {
          w.object([&] {
            w.array("matchFields", [&] {
              w.object([&] {
                w.member("key", "metadata.name");
                w.member("operator", "In");
                w.array("values", [&] { w.value(node); });
              });
            });
          });
        });
      });
    });
  });
}

}  // namespace upload_detail

std::vector<PlannedObject> upload_objects(const TrainingJob& job, const JobSetup& setup, const Addresses& addresses,
                                          std::string_view metadata, std::string_view node, std::uint32_t attempt) {
  using namespace upload_detail;
  const std::string name = job_name(job.id, Stage::upload, attempt);
  const pods::TextMap labels = labels_of(job.id, short_name(Stage::upload), attempt);
  pods::Container container{.name = "upload", .image = setup.tools_image, .args = {"upload"}};
  const auto put = [&](std::string_view variable, std::string_view text) {
    container.env.push_back(pods::env_text(variable, text));
  };
  put("STACKGATE_UPLOAD_URL", addresses.entitystore_url);
  put("STACKGATE_UPLOAD_ARCHIVE", workspace_paths(setup).archive);
  put("STACKGATE_UPLOAD_METADATA", fmt::format("{}/metadata.json", metadata_path));
  put_trace(job, container);
  container.resources = resources_json(small_requests(), {});
  container.mounts.push_back({"metadata", std::string(metadata_path), {}, true});
  pods::Pod pod = pod_of(setup, std::move(container), labels);
  pod.volumes.push_back(pods::config_map_volume("metadata", name));
  mount_workspace(setup, job.id, pod, pod.containers.front());
  const std::string& mode = setup.workspace.access_mode;
  if (!node.empty() && (mode == "ReadWriteOnce" || mode == "ReadWriteOncePod")) {
    pod.affinity = on_node(node);
    pod.tolerations = setup.training.tolerations;  // that node's
  }
  std::vector<PlannedObject> out;
  out.push_back(object(kube::types::config_maps, "ConfigMap", setup, name, labels, [&](json::Writer& w) {
    w.object("data", [&] { w.member("metadata.json", metadata); });
    w.member("immutable", true);
  }));
  out.push_back(object(types::jobs, "Job", setup, name, labels,
                       [&](json::Writer& w) { write_job_spec(w, {.ttl_seconds = setup.training.ttl_seconds}, pod); }));
  return out;
}

}  // namespace stackgate::customizer
