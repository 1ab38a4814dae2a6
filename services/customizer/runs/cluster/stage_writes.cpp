#include "services/customizer/runs/cluster/stage_writes.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/customizer/api/adapter.hpp"
#include "services/customizer/objects/names.hpp"
#include "services/customizer/observe/sight.hpp"
#include "services/customizer/runs/cluster/seen_objects.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::customizer {
namespace stage_writes_detail {

std::string training_node(const Work& work, const ObjectStore::Objects& own) {
  std::vector<const json::Value*> pods;
  for (const KeptPtr& each : pods_of(own, Stage::training, work.stored.job.stage(Stage::training).attempts))
    pods.push_back(&each->object->root());
  return node_of(pods);
}

bool is_labelled(const Kept& kept, std::string_view id) {
  return json::text(&kept.object->root(), {"metadata", "labels", customization_label}) == id;
}

}  // namespace stage_writes_detail

using namespace stage_writes_detail;

std::vector<PlannedObject> objects_of_stage(const Work& work, Stage stage, const JobSetup& setup,
                                            const ContainerDefaults& defaults, const Addresses& addresses,
                                            const ObjectStore::Objects& own) {
  const std::uint32_t attempt = work.stored.job.stage(stage).attempts;
  if (stage == Stage::training) return training_objects(work.job, setup, defaults, addresses, attempt);
  if (stage == Stage::upload)
    return upload_objects(work.job, setup, addresses,
                          adapter_metadata(work.stored.job, work.request, read_progress(work.stored.job.progress)),
                          training_node(work, own), attempt);
  std::vector<PlannedObject> out = common_objects(work.job, setup);
  for (PlannedObject& each : download_objects(work.job, setup, addresses, attempt)) out.push_back(std::move(each));
  return out;
}

std::vector<NamedObject> objects_to_delete(const Work& work, const JobSetup& setup, const ObjectStore::Objects& own) {
  std::vector<NamedObject> out;
  const std::string& id = work.job.id;
  for (const KeptPtr& each : own)
    if ((each->kind == Kind::job || each->kind == Kind::volcano_job) && !each->ending && is_labelled(*each, id))
      out.push_back({type_of(each->kind), each->name, each});
  // These are not watched: by name, whether they are there or not.
  const Customization& job = work.stored.job;
  for (std::uint32_t i = 1; i <= job.stage(Stage::upload).attempts; ++i)
    out.push_back({kube::types::config_maps, job_name(id, Stage::upload, i)});
  if (setup.scheduler != Scheduler::volcano && work.job.option.processes() > 1)
    for (std::uint32_t i = 1; i <= job.stage(Stage::training).attempts; ++i)
      out.push_back({types::services, job_name(id, Stage::training, i)});
  out.push_back({kube::types::config_maps, object_name(id)});
  out.push_back({kube::types::secrets, object_name(id)});
  for (const KeptPtr& each : own)
    if (each->kind == Kind::claim && !each->ending && is_labelled(*each, id))
      out.push_back({type_of(each->kind), each->name, each});
  return out;
}

std::string quota_refusal(const PlannedObject& object, const kube::ApiError& error) {
  const std::size_t exceeded = error.message.find("exceeded quota: ");
  // The quota controller has not counted yet.
  const bool unknown = error.message.find("status unknown for quota: ") != std::string::npos;
  if (error.code != 403 || (exceeded == std::string::npos && !unknown)) return {};
  return fmt::format("the namespace's quota does not allow {} now: {}", kube::to_string(object.type),
                     unknown ? error.message : error.message.substr(exceeded));
}

std::string lasting_refusal(const PlannedObject& object, const kube::ApiError& error) {
  constexpr std::array<int, 6> codes = {400, 403, 404, 405, 413, 422};
  if (!quota_refusal(object, error).empty()) return {};
  if (error.failure != kube::Failure::answered || std::ranges::find(codes, error.code) == codes.end()) return {};
  if (error.code == 404 && !object.type.group.empty())
    return fmt::format("the cluster does not serve {}: is the scheduler installed?", kube::to_string(object.type));
  return fmt::format("the cluster refuses {} {}: {}", kube::to_string(object.type), object.name, error.message);
}

}  // namespace stackgate::customizer
