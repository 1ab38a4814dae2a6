#include <algorithm>

#include <fmt/format.h>

#include "reconcile/plan/inference_service.hpp"
#include "reconcile/plan/parts/canonical.hpp"
#include "reconcile/plan/parts/container.hpp"
#include "reconcile/plan/parts/scope.hpp"

namespace stackgate::reconcile::inference_service {
namespace {

constexpr std::string_view mpi_folder = "/etc/mpi";
constexpr std::string_view ssh_folder = "/etc/mpi-ssh";
// Labels that the LeaderWorkerSet controller puts on each pod.
constexpr std::string_view group_index_label = "leaderworkerset.sigs.k8s.io/group-index";
constexpr std::string_view worker_index_label = "leaderworkerset.sigs.k8s.io/worker-index";
/// Below the 1 MiB that the data of a ConfigMap may have.
constexpr std::size_t most_host_file_bytes = 1'000'000;
constexpr int default_start_timeout = 300;

std::string mpi_config_name(const parts::Scope& scope) { return scope.name + "-mpi-config"; }
std::string ssh_key_name(const parts::Scope& scope) { return scope.name + "-ssh-pk"; }

std::int64_t group_size(const parts::Scope& scope) { return scope.spec["multiNode"]["size"].integer().value_or(1); }

std::int64_t gpus_per_pod(const parts::Scope& scope) {
  return std::max<std::int64_t>(1, parts::gpu_count(scope.spec["resources"], scope.planning.settings));
}

/// The pods of a group with their GPUs: the leader is <set>-<group>, its workers <set>-<group>-<worker>, all in the
/// subdomain <set>.
std::string host_file(const parts::Scope& scope, std::int64_t group) {
  const std::string set = group_set_name(scope);
  const std::int64_t slots = gpus_per_pod(scope);
  std::string out = fmt::format("{0}-{1}.{0} slots={2}\n", set, group, slots);
  for (std::int64_t worker = 1; worker < group_size(scope); ++worker)
    out += fmt::format("{0}-{1}-{2}.{0} slots={3}\n", set, group, worker, slots);
  return out;
}

/// Nothing when the files of all groups would not fit.
std::optional<pods::TextMap> host_files(const parts::Scope& scope, std::int64_t groups) {
  pods::TextMap out;
  std::size_t bytes = 0;
  const std::size_t least = scope.name.size();  // of a line
  for (std::int64_t group = 0; group < groups; ++group) {
    if (static_cast<std::size_t>(group_size(scope)) > most_host_file_bytes / least) return std::nullopt;
    std::string file = host_file(scope, group);
    std::string key = fmt::format("hostfile-{}", group);
    bytes += file.size() + key.size();
    if (bytes > most_host_file_bytes) return std::nullopt;
    out.emplace(std::move(key), std::move(file));
  }
  return out;
}

void add_mpi_config(const parts::Scope& scope, const pods::TextMap& files) {
  parts::add_child(scope, ChildType::config_map, mpi_config_name(scope), {},
                   [&](json::Writer& out) { pods::member_map(out, "data", files); });
}

void add_ssh_key(const parts::Scope& scope) {
  parts::add_child(scope, ChildType::secret, ssh_key_name(scope), {.keep = true, .generate_ssh_key = true},
                   [](json::Writer& out) { out.member("type", "Opaque"); });
}

std::string label_field(std::string_view label) { return fmt::format("metadata.labels['{}']", label); }

/// What both kinds of pods need to know of their group. It stands in front of the user's variables.
std::vector<pods::EnvVar> group_env(const parts::Scope& scope, bool leader) {
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  std::vector<pods::EnvVar> out{
      pods::env_value("INF_NODE_ROLE", leader ? "leader" : "worker"),
      pods::env_from_field("INF_NODE_RANK", label_field(worker_index_label)),
      pods::env_from_field("INF_GROUP_INDEX", label_field(group_index_label)),
      pods::env_value("INF_NODE_COUNT", number(group_size(scope))),
      pods::env_value("INF_GPUS_PER_NODE", number(gpus_per_pod(scope))),
      pods::env_value("INF_SSH_KEY_FILE", fmt::format("{}/id", ssh_folder)),
  };
  if (!leader) return out;
  const std::int64_t timeout =
      scope.spec["multiNode"]["mpiStartTimeoutSeconds"].integer().value_or(default_start_timeout);
  out.push_back(pods::env_value("INF_MPI_START_TIMEOUT", number(timeout)));
  out.push_back(pods::env_value("INF_MPI_HOST_FILE", fmt::format("{}/hostfile-$(INF_GROUP_INDEX)", mpi_folder)));
  // Open MPI reads these itself: its mpirun needs no arguments for host file and key.
  out.push_back(pods::env_value("OMPI_MCA_orte_default_hostfile", "$(INF_MPI_HOST_FILE)"));
  out.push_back(pods::env_value("OMPI_MCA_orte_keep_fqdn_hostnames", "true"));
  out.push_back(pods::env_value(
      "OMPI_MCA_plm_rsh_args",
      "-i $(INF_SSH_KEY_FILE) -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ConnectionAttempts=20"));
  return out;
}

/// Readable for whoever the processes are; ssh refuses a key of its own user that others may read.
int key_mode(const parts::Scope& scope) {
  const Field user = scope.spec["podSecurityContext"];
  if (user["runAsUser"].integer() == 0) return 0400;
  return user["fsGroup"].present() ? 0440 : 0444;
}

parts::Workload member_of_group(const parts::Scope& scope, parts::Workload member, bool leader) {
  std::vector<pods::EnvVar> env = group_env(scope, leader);
  env.insert(env.end(), std::make_move_iterator(member.main.env.begin()),
             std::make_move_iterator(member.main.env.end()));
  member.main.env = std::move(env);
  parts::mount(member, pods::secret_volume("ssh-key", ssh_key_name(scope), {}, key_mode(scope)), ssh_folder);
  if (leader) {
    parts::mount(member, pods::config_map_volume("mpi-config", mpi_config_name(scope)), mpi_folder);
  } else {
    member.main.ports.clear();
    member.main.startup = member.main.readiness = member.main.liveness = std::nullopt;
  }
  member.pod.labels.insert_or_assign(std::string(role_label), std::string(leader ? leader_role : worker_role));
  member.pod.scheduler = scope.spec["multiNode"]["schedulerName"].text().value_or("");
  member.spread = false;  // a group wants to be close together
  return member;
}

void add_group_set(const parts::Scope& scope, const parts::Workload& server) {
  const parts::Workload leader = member_of_group(scope, server, true);
  const parts::Workload worker = member_of_group(scope, server, false);
  parts::add_child(scope, ChildType::leader_worker_set, group_set_name(scope), {.labels = server.pod.labels},
                   [&](json::Writer& out) {
                     out.object("spec", [&] {
                       out.member("replicas", server.replicas);
                       out.object("rolloutStrategy", [&] {
                         out.member("type", "RollingUpdate");
                         out.object("rollingUpdateConfiguration", [&] {
                           out.member("maxSurge", 0);
                           out.member("maxUnavailable", 1);
                         });
                       });
                       out.object("leaderWorkerTemplate", [&] {
                         out.member("size", group_size(scope));
                         // Processes of one MPI run cannot come back one by one.
                         out.member("restartPolicy", "RecreateGroupOnPodRestart");
                         out.key("leaderTemplate");
                         pods::write_template(out, parts::pod_of(scope, leader));
                         out.key("workerTemplate");
                         pods::write_template(out, parts::pod_of(scope, worker));
                       });
                     });
                   });
}

}  // namespace

bool has_nodes(const parts::Scope& scope) { return group_size(scope) > 1; }

std::string group_set_name(const parts::Scope& scope) { return scope.name + "-lws"; }

pods::TextMap leader_labels(const parts::Scope& scope) {
  pods::TextMap out = parts::selector_labels(scope);
  out.emplace(role_label, leader_role);
  return out;
}

void add_nodes(const parts::Scope& scope, const parts::Workload& server, parts::Outcome& outcome) {
  outcome.type = ChildType::leader_worker_set;
  outcome.name = group_set_name(scope);
  const auto files = host_files(scope, std::max<std::int64_t>(1, server.replicas));
  if (!files) {
    outcome.blockers.push_back(
        {"TooManyNodes", "the host files of all groups are larger than a ConfigMap; ask for fewer replicas", true});
    return;
  }
  add_mpi_config(scope, *files);
  add_ssh_key(scope);
  if (!scope.planning.observed.served.leader_worker_sets) {
    parts::note_missing_api(scope, "multiNode", ChildType::leader_worker_set, "LeaderWorkerSet");
    outcome.blockers.push_back({"NotInstalled",
                                "multiNode needs LeaderWorkerSet, which this cluster does not have; install it, or "
                                "take multiNode out",
                                true});
    return;
  }
  add_group_set(scope, server);
}

}  // namespace stackgate::reconcile::inference_service
