#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/customizer/objects/parts.hpp"
#include "services/kit/pods/members.hpp"

namespace stackgate::customizer {
namespace training_detail {

using namespace objects;

constexpr int master_port = 29'500, volcano_retries = 3, exit_again = 75;
constexpr std::string_view container_name = "trainer", task = "trainer";
constexpr std::int64_t grace_seconds = 120;  // to write a checkpoint

/// How the processes of a training are spread over pods.
struct Layout {
  std::uint32_t pods = 1, gpus = 0, processes_of_pod = 1;
};
Layout layout_of(const TrainingOption& option, const ContainerDefaults& defaults) {
  if (defaults.image_starts_processes)
    return {option.num_nodes, option.num_gpus, std::max<std::uint32_t>(1, option.num_gpus)};
  return {option.processes(), std::min<std::uint32_t>(1, option.num_gpus), 1};
}

/// Where the pods of a scheduler find their number and the first of them.
struct Places {
  std::string index_field{}, master{};
};
Places places_of(Scheduler scheduler, std::string_view job) {
  if (scheduler == Scheduler::volcano)
    return {"metadata.annotations['volcano.sh/task-index']", fmt::format("{0}-{1}-0.{0}", job, task)};
  return {"metadata.annotations['batch.kubernetes.io/job-completion-index']", fmt::format("{0}-0.{0}", job)};
}

void put(pods::Container& container, std::string_view name, std::string_view text) {
  container.env.push_back(pods::env_text(name, text));
}

void put_processes(pods::Container& container, const Layout& layout, const Places& places) {
  put(container, "MASTER_ADDR", layout.pods == 1 ? "localhost" : places.master);
  put(container, "MASTER_PORT", std::to_string(master_port));
  put(container, "WORLD_SIZE", std::to_string(layout.pods * layout.processes_of_pod));
  put(container, "NNODES", std::to_string(layout.pods));
  put(container, "NPROC_PER_NODE", std::to_string(layout.processes_of_pod));
  const auto put_index = [&](std::string_view name) {
    if (layout.pods == 1)
      put(container, name, "0");
    else
      container.env.push_back(pods::env_from_field(name, places.index_field));
  };
  put_index("NODE_RANK");
  if (layout.processes_of_pod > 1) return;  // the image gives its processes their numbers
  put_index("RANK");
  put(container, "LOCAL_RANK", "0");
}

void put_settings(pods::Container& container, const TrainingJob& job, const JobSetup& setup,
                  const Addresses& addresses) {
  const WorkspacePaths paths = workspace_paths(setup);
  const auto files_of = [&](const std::vector<std::string>& files) {
    std::vector<std::string> out;
    out.reserve(files.size());
    for (const std::string& each : files) out.push_back(fmt::format("{}/{}", paths.dataset, each));
    return fmt::format("{}", fmt::join(out, ","));
  };
  put(container, "STACKGATE_MODEL", fmt::format("{}/{}", models_path, job.target.path));
  put(container, "STACKGATE_BASE_MODEL_NAME", job.target.base_model);
  put(container, "STACKGATE_TRAIN", files_of(job.training_files));
  if (!job.validation_files.empty()) put(container, "STACKGATE_VALIDATION", files_of(job.validation_files));
  put(container, "STACKGATE_OUTPUT", paths.output);
  put(container, "STACKGATE_CONFIG", fmt::format("{}/config.json", config_path));
  put(container, "STACKGATE_RESUME", "true");
  put(container, "STACKGATE_JOB_ID", job.id);
  put(container, "STACKGATE_PROGRESS_URL",
      fmt::format("{}/v1/customizations/{}/progress", addresses.callback_url, job.id));
  put(container, "STACKGATE_PROGRESS_TOKEN_FILE", fmt::format("{}/token", progress_path));
}

std::string resources_of(const Layout& layout, const ContainerDefaults& defaults) {
  Amounts requests = defaults.requests, limits = defaults.limits;
  // Quotas, and Kueue's, are counted in requests: there are always some.
  requests.emplace("cpu", limits.contains("cpu") ? limits.at("cpu") : "1");
  requests.emplace("memory", limits.contains("memory") ? limits.at("memory") : "4Gi");
  if (layout.gpus > 0) {
    requests.insert_or_assign(defaults.gpu_resource, std::to_string(layout.gpus));
    limits.insert_or_assign(defaults.gpu_resource, std::to_string(layout.gpus));
  }
  return resources_json(requests, limits);
}

pods::Pod training_pod(const TrainingJob& job, const JobSetup& setup, const ContainerDefaults& defaults,
                       const Addresses& addresses, const Layout& layout, const Places& places,
                       const pods::TextMap& labels) {
  pods::Container container{.name = std::string(container_name), .image = setup.training.image};
  container.pull_policy = defaults.pull_policy;
  put_settings(container, job, setup, addresses);
  put_processes(container, layout, places);
  put_trace(job, container);
  append(container.env, setup.training.env);
  append(container.env, setup.training.network_env);
  container.resources = resources_of(layout, defaults);
  container.mounts = {{"models", std::string(models_path), setup.model_claim.sub_path, true},
                      {"shm", "/dev/shm"},
                      {"config", std::string(config_path), {}, true},
                      {"progress", std::string(progress_path), {}, true}};
  // Images of other makes write where they like.
  container.read_only_root = false;
  pods::Pod pod = pod_of(setup, std::move(container), labels);
  pod.volumes = {
      pods::claim_volume("models", setup.model_claim.name, true), pods::memory_volume("shm", defaults.shared_memory),
      pods::config_map_volume("config", object_name(job.id)), pods::secret_volume("progress", object_name(job.id))};
  mount_workspace(setup, job.id, pod, pod.containers.front());
  pod.tolerations = setup.training.tolerations;
  pod.node_selector = defaults.node_selector;
  pod.priority_class = defaults.priority_class;
  pod.grace_seconds = grace_seconds;
  // Counted from the node that took it: waiting in a queue is not running.
  if (setup.training.timeout_seconds) pod.deadline_seconds = *setup.training.timeout_seconds;
  return pod;
}

void write_policies(json::Writer& w) {
  w.array("policies", [&] {
    const auto on_event = [&](std::string_view event, std::string_view action) {
      w.object([&] {
        w.member("event", event);
        w.member("action", action);
      });
    };
    // The first that fits counts.
    on_event("PodEvicted", "RestartJob");
    w.object([&] {
      w.member("exitCode", exit_again);
      w.member("action", "RestartJob");
    });
    on_event("PodFailed", "AbortJob");
    on_event("TaskCompleted", "CompleteJob");
  });
}

PlannedObject volcano_job(const JobSetup& setup, const std::string& name, const pods::TextMap& labels,
                          const Layout& layout, const pods::Pod& pod) {
  return object(types::volcano_jobs, "Job", setup, name, labels, [&](json::Writer& w) {
    w.object("spec", [&] {
      w.member("schedulerName", "volcano");
      w.member("minAvailable", layout.pods);
      pods::member_text(w, "queue", setup.queue);
      pods::member_text(w, "priorityClassName", pod.priority_class);
      w.member("maxRetry", volcano_retries);
      if (const auto ttl = ttl_of(setup.training.ttl_seconds)) w.member("ttlSecondsAfterFinished", *ttl);
      if (layout.pods > 1)
        w.object("plugins", [&] { w.array("svc", [&] { w.value("--publish-not-ready-addresses=true"); }); });
      write_policies(w);
      w.array("tasks", [&] {
        w.object([&] {
          w.member("name", task);
          w.member("replicas", layout.pods);
          w.key("template");
          pods::write_template(w, pod);
        });
      });
    });
  });
}

/// By which a queue's scheduler knows what is its own: labels of the Job and its pods, annotations of the Job.
void join_queue(const JobSetup& setup, std::uint32_t pods, pods::TextMap& labels, pods::TextMap& annotations,
                pods::Pod& pod) {
  const auto both = [&](std::string_view key, std::string_view value) {
    labels.emplace(key, value);
    pod.labels.emplace(key, value);
  };
  if (setup.scheduler == Scheduler::kueue) labels.emplace("kueue.x-k8s.io/queue-name", setup.queue);
  if (setup.scheduler != Scheduler::runai && setup.scheduler != Scheduler::kai) return;
  if (setup.scheduler == Scheduler::runai) {
    pod.scheduler = "runai-scheduler";
    both("project", setup.queue);
    both("runai/queue", setup.queue);
  } else {
    pod.scheduler = "kai-scheduler";
    both("kai.scheduler/queue", setup.queue);
  }
  // Without it each pod of a Job is placed for itself, and half a training waits for the other half.
  if (pods > 1) annotations.emplace("kai.scheduler/batch-min-member", std::to_string(pods));
}

/// Names for the pods: <job>-0.<job>.
PlannedObject names_service(const JobSetup& setup, const std::string& name, const pods::TextMap& labels) {
  return object(types::services, "Service", setup, name, labels, [&](json::Writer& w) {
    w.object("spec", [&] {
      w.member("clusterIP", "None");
      w.member("publishNotReadyAddresses", true);
      w.object("selector", [&] {
        for (const std::string_view key : {customization_label, stage_label, attempt_label})
          w.member(key, labels.find(key)->second);
      });
      w.array("ports", [&] {
        w.object([&] {
          w.member("name", "master");
          w.member("port", master_port);
          w.member("protocol", "TCP");
        });
      });
    });
  });
}

}  // namespace training_detail

std::vector<PlannedObject> training_objects(const TrainingJob& job, const JobSetup& setup,
                                            const ContainerDefaults& defaults, const Addresses& addresses,
                                            std::uint32_t attempt) {
  using namespace training_detail;
  const std::string name = job_name(job.id, Stage::training, attempt);
  const Layout layout = layout_of(job.option, defaults);
  pods::TextMap labels = labels_of(job.id, short_name(Stage::training), attempt);
  pods::Pod pod = training_pod(job, setup, defaults, addresses, layout, places_of(setup.scheduler, name), labels);
  if (setup.scheduler == Scheduler::volcano) return {volcano_job(setup, name, labels, layout, pod)};
  std::vector<PlannedObject> out;
  if (layout.pods > 1) {
    out.push_back(names_service(setup, name, labels));
    pod.subdomain = name;
  }
  pods::TextMap annotations;
  join_queue(setup, layout.pods, labels, annotations, pod);
  // Kueue itself starts what it has admitted.
  const JobSettings settings{
      .ttl_seconds = setup.training.ttl_seconds, .pods = layout.pods, .suspended = setup.scheduler == Scheduler::kueue};
  out.push_back(object(
      types::jobs, "Job", setup, name, labels, [&](json::Writer& w) { write_job_spec(w, settings, pod); },
      annotations));
  return out;
}

}  // namespace stackgate::customizer
