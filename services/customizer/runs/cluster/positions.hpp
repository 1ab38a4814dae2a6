// Where Kueue's visibility API has what waits in a LocalQueue. Pure and thread-safe.
// Source: https://kueue.sigs.k8s.io/docs/tasks/manage/monitor_pending_workloads/pending_workloads_on_demand/
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "services/customizer/runs/cluster/object_store.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/kube/resource.hpp"

namespace stackgate::customizer {

namespace types {
/// Its sub-resource pendingworkloads is asked for.
inline constexpr kube::ResourceType visible_local_queues{"visibility.kueue.x-k8s.io", "v1beta1", "localqueues"};
}  // namespace types

/// By the name of the Job: how many are before it in the LocalQueue.
using Positions = std::map<std::string, std::int64_t, std::less<>>;
/// Of a PendingWorkloadsSummary.
Positions positions_of(const json::Value& summary);

/// The Job whose Workload has no quota yet; empty: there is none.
std::string_view job_without_quota(const ObjectStore::Objects& own);

/// What is appended to why it waits.
std::string position_text(std::int64_t before);

}  // namespace stackgate::customizer
