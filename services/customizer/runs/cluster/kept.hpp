// What is kept of an object of the cluster: whose it is, and as much of it as its state is read from. Pure.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "services/customizer/objects/plan.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/kube/object.hpp"

namespace stackgate::customizer {

/// The kinds that are watched.
enum class Kind : std::uint8_t { job, volcano_job, pod, claim, pod_group, workload, event };

namespace types {
inline constexpr kube::ResourceType pods{"", "v1", "pods"};
}  // namespace types
inline constexpr std::array<kube::ResourceType, 7> watched_types = {
    types::jobs,       types::volcano_jobs, types::pods,        kube::types::persistent_volume_claims,
    types::pod_groups, types::workloads,    kube::types::events};
constexpr const kube::ResourceType& type_of(Kind kind) { return watched_types.at(static_cast<std::size_t>(kind)); }
/// Whether objects of the kind exist where that scheduler runs trainings.
constexpr bool is_watched(Kind kind, Scheduler scheduler) {
  if (kind == Kind::volcano_job || kind == Kind::pod_group) return scheduler == Scheduler::volcano;
  return kind != Kind::workload || scheduler == Scheduler::kueue;
}
/// Nothing: objects of the type are not watched.
std::optional<Kind> kind_of(const kube::ResourceType& type);

struct Kept {
  Kind kind = Kind::job;
  std::string name{}, uid{};
  std::uint64_t version = 0;  // higher is newer
  std::string group{};        // the customization's id, or the name of the model's Job
  std::string of{};           // whose it is by name: a PodGroup's and a Workload's Job, an event's object; else its own
  std::string owner{};        // uid of the first owner
  bool ending = false;        // it is being deleted
  std::shared_ptr<const kube::Object> object{};
};
using KeptPtr = std::shared_ptr<const Kept>;

/// "cust-1a2b" of "cust-1a2b-training-1-x7", "model-01ef" of "model-01ef-9b"; empty: named by somebody else.
std::string_view group_of(std::string_view object_name);

/// nullptr: it has nothing to do with a customization.
KeptPtr keep(Kind kind, const json::Value& object);
/// The same, being deleted.
KeptPtr ended(const Kept& kept);

}  // namespace stackgate::customizer
