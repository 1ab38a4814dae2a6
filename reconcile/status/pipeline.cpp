#include "reconcile/status/pipeline.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reconcile/status/workload.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::reconcile {
namespace pipeline {

constexpr std::size_t most_listed = 5, longest_message = 512;

struct Member {
  const PipelineEntry* entry = nullptr;
  State state = State::unknown;
};

/// What a service says of itself counts only once it speaks of its newest spec.
State state_of(const PipelineEntry& entry) {
  if (entry.name_taken) return State::failed;
  if (entry.service == nullptr) return State::pending;
  const json::Value* status = json::at(entry.service, {"status"});
  const std::string_view word = json::text(status, {"state"});
  if (word.empty()) return State::pending;
  const auto state = state_named(word);
  if (!state || std::ranges::count(states_of(crds::Kind::inference_service), *state) == 0) return State::unknown;
  const bool current =
      json::integer(status, {"observedGeneration"}) >= json::integer(entry.service, {"metadata", "generation"});
  return *state == State::ready && !current ? State::not_ready : *state;
}

/// "reranker is Pending (Unschedulable): no node has 1 nvidia.com/gpu free"
std::string describe(const Member& member) {
  const PipelineEntry& entry = *member.entry;
  if (entry.name_taken)
    return fmt::format(
        "there is another InferenceService named {} that does not belong to this pipeline; delete it or "
        "rename the entry; that is looked at again every {} s",
        entry.name, name_retry.count());
  std::string out = fmt::format("{} is {}", entry.name, to_string(member.state));
  const json::Value* ready = condition_of(entry.service, "Ready");
  if (const std::string_view reason = json::text(ready, {"reason"}); !reason.empty())
    out += fmt::format(" ({})", reason);
  if (const std::string_view message = json::text(ready, {"message"}); !message.empty())
    out += fmt::format(": {}", shortened(message, longest_message));
  return out;
}

std::string join(const std::vector<std::string>& listed) {
  std::string out;
  for (std::size_t i = 0; i < std::min(listed.size(), most_listed); ++i) out += (i == 0 ? "" : "; ") + listed[i];
  if (listed.size() > most_listed) out += fmt::format("; and {} more", listed.size() - most_listed);
  return out;
}

Condition ready(const std::vector<Member>& members, State& state) {
  const auto any = [&](auto&& test) { return std::ranges::any_of(members, test); };
  const auto is = [](State wanted) { return [wanted](const Member& each) { return each.state == wanted; }; };
  const auto conclude = [&](State found, std::string_view reason, auto&& worth_listing) {
    state = found;
    std::vector<std::string> listed;
    for (const Member& each : members)
      if (worth_listing(each)) listed.push_back(describe(each));
    return ready_condition(found, reason, join(listed));
  };
  const auto is_taken = [](const Member& each) { return each.entry->name_taken; };
  const auto lags = [](const Member& each) { return each.state != State::ready; };
  if (any(is_taken)) return conclude(State::failed, "NameTaken", is_taken);
  if (any(is(State::failed))) return conclude(State::failed, "ServiceFailed", is(State::failed));
  if (any([&](const Member& each) { return lags(each) && each.state != State::unknown; }))
    return conclude(State::not_ready, "ServicesNotReady", lags);
  if (any(lags)) return conclude(State::unknown, "ServicesUnknown", lags);
  state = State::ready;
  if (members.empty()) return ready_condition(state, "NothingEnabled", "no service is enabled");
  return ready_condition(state, "AllServicesReady", fmt::format("all {} services are ready", members.size()));
}

/// Nothing when no entry needs another one.
void add_dependencies(const std::vector<Member>& members, std::vector<Condition>& out) {
  bool asked = false;
  std::vector<std::string> listed;
  for (const Member& each : members) {
    for (const std::string& name : each.entry->needs) {
      asked = true;
      const auto other =
          std::ranges::find_if(members, [&](const Member& candidate) { return candidate.entry->name == name; });
      if (other == members.end())
        listed.push_back(fmt::format("{} needs {}, which is not enabled", each.entry->name, name));
      else if (other->state != State::ready)
        listed.push_back(fmt::format("{} needs {}, which is {}", each.entry->name, name, to_string(other->state)));
    }
  }
  if (!asked) return;
  if (listed.empty())
    out.push_back({"DependenciesReady", "True", "AllDependenciesReady", "what the services need is ready"});
  else
    out.push_back({"DependenciesReady", "False", "DependencyNotReady", join(listed)});
}

}  // namespace pipeline

Status pipeline_status(std::span<const PipelineEntry> entries) {
  Status status;
  std::vector<pipeline::Member> members;
  for (const PipelineEntry& each : entries) {
    members.push_back({&each, pipeline::state_of(each)});
    status.services.emplace(each.name, to_string(members.back().state));
  }
  status.conditions.push_back(pipeline::ready(members, status.state));
  pipeline::add_dependencies(members, status.conditions);
  return status;
}

}  // namespace stackgate::reconcile
