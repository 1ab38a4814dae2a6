// One function for each kind of object that reports why something waits. Internal to this folder.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "services/kit/json/value.hpp"

namespace stackgate::customizer::reports {

/// Of what others wrote, in bytes.
inline constexpr std::size_t longest_text = 500;

/// "the queue research has …", of a PodGroup of Volcano that waits; empty: it says nothing.
std::string of_pod_group(const json::Value& pod_group, std::string_view queue);

/// Of a Workload of Kueue that is not admitted; empty: it is, or says nothing.
std::string of_workload(const json::Value& workload, std::string_view queue);

/// Why no pods are made, of a warning FailedCreate; empty: there is none.
std::string of_refused_pods(std::span<const json::Value* const> events);

/// The newest message of FailedScheduling, for schedulers that write no condition into the pod; empty: there is none.
std::string of_scheduling(std::span<const json::Value* const> events);

}  // namespace stackgate::customizer::reports
