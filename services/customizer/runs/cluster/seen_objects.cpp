#include "services/customizer/runs/cluster/seen_objects.hpp"

#include <algorithm>

#include "services/customizer/objects/names.hpp"
#include "services/customizer/observe/sight.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::customizer {
namespace seen_objects_detail {

using Objects = ObjectStore::Objects;

const json::Value* root_of(const KeptPtr& kept) { return kept == nullptr ? nullptr : &kept->object->root(); }

std::string_view label(const Kept& kept, std::string_view key) {
  return json::text(&kept.object->root(), {"metadata", "labels", key});
}

KeptPtr find(const Objects& all, Kind kind, std::string_view of) {
  const auto found =
      std::ranges::find_if(all, [&](const KeptPtr& each) { return each->kind == kind && each->of == of; });
  return found == all.end() ? nullptr : *found;
}

/// The Job itself, or what is made of it: "<job>-x7", "<job>-trainer-0".
bool belongs_to(std::string_view name, std::string_view job) {
  return name.starts_with(job) && (name.size() == job.size() || name[job.size()] == '-');
}

void append_events(const Objects& all, std::string_view job, std::vector<const json::Value*>& to) {
  for (const KeptPtr& each : all)
    if (each->kind == Kind::event && belongs_to(each->of, job)) to.push_back(root_of(each));
}

std::vector<const json::Value*> roots_of(const Objects& all) {
  std::vector<const json::Value*> out;
  for (const KeptPtr& each : all) out.push_back(root_of(each));
  return out;
}

bool is_over(std::string_view phase) { return phase == "Succeeded" || phase == "Failed"; }

/// Its Job is deleted, and its pods have not ended: they may still write to the workspace.
StageSight sight_of_leavers(const Objects& pods) {
  bool any = false, runs = false;
  for (const KeptPtr& each : pods) {
    any = any || !is_over(phase_of(*each));
    runs = runs || phase_of(*each) == "Running";
  }
  if (!any) return {};
  return {.objects = StageSight::Objects::there,
          .state = runs ? State::running : State::pending,
          .message = "its Job is deleted, and its pods are ending"};
}

StageSight stage_sight(const Work& work, Stage stage, const JobSetup& setup, const Objects& own, const Objects& model) {
  const std::uint32_t attempt = work.stored.job.stage(stage).attempts;
  if (attempt == 0) return {};
  const KeptPtr job = job_of(own, setup, work.job.id, stage, attempt);
  const Objects pods = pods_of(own, stage, attempt);
  if (job == nullptr || job->ending) return sight_of_leavers(pods);
  StageObjects out{.id = work.job.id, .stage = stage, .scheduler = setup.scheduler, .queue = setup.queue};
  out.job = root_of(job);
  out.pods = roots_of(pods);
  const KeptPtr pod_group = find(own, Kind::pod_group, job->name), workload = find(own, Kind::workload, job->name);
  out.pod_group = root_of(pod_group);
  out.workload = root_of(workload);
  append_events(own, job->name, out.events);
  if (stage != Stage::download || work.job.target.uri.kind == ModelUri::Kind::none) return sight_of(out);
  const std::string name = model_job_name(work.job.target, setup.model_claim.name);
  const KeptPtr model_job = find(model, Kind::job, name);
  out.needs_model = true;
  out.model_job = model_job != nullptr && model_job->ending ? nullptr : root_of(model_job);
  for (const KeptPtr& each : model)
    if (each->kind == Kind::pod) out.model_pods.push_back(root_of(each));
  append_events(model, name, out.events);
  return sight_of(out);
}

}  // namespace seen_objects_detail

using namespace seen_objects_detail;

std::string_view phase_of(const Kept& pod) { return json::text(&pod.object->root(), {"status", "phase"}); }

bool has_claim(const ObjectStore::Objects& own) {
  return std::ranges::any_of(own, [](const KeptPtr& each) { return each->kind == Kind::claim && !each->ending; });
}

KeptPtr job_of(const ObjectStore::Objects& own, const JobSetup& setup, std::string_view id, Stage stage,
               std::uint32_t attempt) {
  const bool is_volcano = stage == Stage::training && setup.scheduler == Scheduler::volcano;
  return find(own, is_volcano ? Kind::volcano_job : Kind::job, job_name(id, stage, attempt));
}

ObjectStore::Objects pods_of(const ObjectStore::Objects& own, Stage stage, std::uint32_t attempt) {
  ObjectStore::Objects out;
  const std::string number = std::to_string(attempt);
  for (const KeptPtr& each : own)
    if (each->kind == Kind::pod && label(*each, stage_label) == short_name(stage) &&
        label(*each, attempt_label) == number)
      out.push_back(each);
  return out;
}

Seen seen_of(const Work& work, const JobSetup& setup, const ObjectStore::Objects& own,
             const ObjectStore::Objects& model) {
  Seen out{.workspace = has_claim(own)};
  out.leftovers = std::ranges::any_of(own, [](const KeptPtr& each) {
    return (each->kind == Kind::job || each->kind == Kind::volcano_job || each->kind == Kind::claim) && !each->ending;
  });
  for (const Stage each : all_stages)
    out.stages.at(static_cast<std::size_t>(each)) = stage_sight(work, each, setup, own, model);
  return out;
}

}  // namespace stackgate::customizer
