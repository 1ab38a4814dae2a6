// What the stages' objects have in common. Internal to this folder.
#pragma once
#include <concepts>
#include <string>
#include <string_view>

#include "services/customizer/objects/names.hpp"
#include "services/customizer/objects/plan.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/pods/pod.hpp"

namespace stackgate::customizer::objects {

inline constexpr std::string_view models_path = "/models", config_path = "/etc/stackgate/training",
                                  progress_path = "/run/secrets/stackgate/progress";

/// Labels of every object and pod; `stage` empty for what all stages share.
pods::TextMap labels_of(std::string_view id, std::string_view stage = {}, std::uint32_t attempt = 0);

/// metadata: name, labels, the customizer as owner, so that all goes with it.
void write_metadata(json::Writer& out, const JobSetup& setup, std::string_view name, const pods::TextMap& labels,
                    const pods::TextMap& annotations);

/// {"apiVersion", "kind", "metadata", and what `members` writes}.
template <std::invocable<json::Writer&> Members>
PlannedObject object(const kube::ResourceType& type, std::string_view kind, const JobSetup& setup, std::string name,
                     const pods::TextMap& labels, Members&& members, const pods::TextMap& annotations = {}) {
  const std::string version =
      type.group.empty() ? std::string(type.version) : std::string(type.group) + "/" + std::string(type.version);
  std::string body = json::object_text([&](json::Writer& out) {
    out.member("apiVersion", version);
    out.member("kind", kind);
    write_metadata(out, setup, name, labels, annotations);
    members(out);
  });
  return {type, std::move(name), std::move(body)};
}

/// A pod of one container that may write to the workspace: restricted, without a token, never restarted.
pods::Pod pod_of(const JobSetup& setup, pods::Container container, const pods::TextMap& labels);
void mount_workspace(const JobSetup& setup, std::string_view id, pods::Pod& pod, pods::Container& container);
/// So that the program within goes on with the trace of the request.
void put_trace(const TrainingJob& job, pods::Container& container);

void append(std::vector<pods::EnvVar>& to, const std::vector<pods::EnvVar>& more);

/// {"requests": …, "limits": …}
std::string resources_json(const Amounts& requests, const Amounts& limits);
/// Of what only moves files.
inline const Amounts& small_requests() {
  static const Amounts amounts{{"cpu", "100m"}, {"memory", "256Mi"}};
  return amounts;
}

/// `ttlSecondsAfterFinished` of a stage's Job: what the operator wants, and at least as long as it takes to record its
/// end, whatever replica does that.
std::optional<std::uint32_t> ttl_of(std::optional<std::uint32_t> wanted);

struct JobSettings {
  int backoff_limit = 0;  // the state machine counts attempts
  std::optional<std::uint32_t> ttl_seconds{};
  std::uint32_t pods = 1;  // above 1: indexed
  bool suspended = false;
};
/// spec of a batch/v1 Job.
void write_job_spec(json::Writer& out, const JobSettings& settings, const pods::Pod& pod);

}  // namespace stackgate::customizer::objects
