#include "services/customizer/objects/parts.hpp"

#include <algorithm>

#include "services/kit/pods/members.hpp"

namespace stackgate::customizer::objects {
namespace {

/// As the image says, in a group that may write to a fresh volume; Pod Security's level restricted.
constexpr std::string_view security_context =
    R"({"fsGroup":65532,"fsGroupChangePolicy":"OnRootMismatch","runAsNonRoot":true,"seccompProfile":{"type":"RuntimeDefault"}})";

constexpr std::string_view workspace_volume = "workspace";

}  // namespace

pods::TextMap labels_of(std::string_view id, std::string_view stage, std::uint32_t attempt) {
  pods::TextMap out{{"app.kubernetes.io/name", "stackgate-customizer"},
                    {"app.kubernetes.io/component", "customization"},
                    {"app.kubernetes.io/managed-by", "stackgate-customizer"}};
  if (!id.empty()) out.emplace(customization_label, id);
  if (!stage.empty()) out.emplace(stage_label, stage);
  if (attempt != 0) out.emplace(attempt_label, std::to_string(attempt));
  return out;
}

void write_metadata(json::Writer& out, const JobSetup& setup, std::string_view name, const pods::TextMap& labels,
                    const pods::TextMap& annotations) {
  out.object("metadata", [&] {
    out.member("name", name);
    pods::member_map(out, "labels", labels);
    pods::member_map(out, "annotations", annotations);
    out.array("ownerReferences", [&] {
      out.object([&] {
        out.member("apiVersion", setup.owner.api_version);
        out.member("kind", setup.owner.kind);
        out.member("name", setup.owner.name);
        out.member("uid", setup.owner.uid);
      });
    });
  });
}

pods::Pod pod_of(const JobSetup& setup, pods::Container container, const pods::TextMap& labels) {
  pods::Pod pod{
      .labels = labels, .pull_secrets = setup.pull_secrets, .security_context = std::string(security_context)};
  pod.restart_policy = "Never";
  pod.containers.push_back(std::move(container));
  return pod;
}

void mount_workspace(const JobSetup& setup, std::string_view id, pods::Pod& pod, pods::Container& container) {
  container.mounts.push_back({std::string(workspace_volume), setup.workspace.mount_path});
  pod.volumes.push_back(pods::claim_volume(workspace_volume, object_name(id)));
}

void put_trace(const TrainingJob& job, pods::Container& container) {
  if (!job.traceparent.empty()) container.env.push_back(pods::env_text("TRACEPARENT", job.traceparent));
}

void append(std::vector<pods::EnvVar>& to, const std::vector<pods::EnvVar>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

std::string resources_json(const Amounts& requests, const Amounts& limits) {
  return json::object_text([&](json::Writer& out) {
    pods::member_map(out, "limits", limits);
    pods::member_map(out, "requests", requests);
  });
}

std::optional<std::uint32_t> ttl_of(std::optional<std::uint32_t> wanted) {
  constexpr std::uint32_t least = 300;
  return wanted ? std::optional(std::max(*wanted, least)) : std::nullopt;
}

void write_job_spec(json::Writer& out, const JobSettings& settings, const pods::Pod& pod) {
  out.object("spec", [&] {
    if (settings.pods > 1) {
      out.member("parallelism", settings.pods);
      out.member("completions", settings.pods);
      out.member("completionMode", "Indexed");
    }
    out.member("backoffLimit", settings.backoff_limit);
    if (const auto ttl = ttl_of(settings.ttl_seconds)) out.member("ttlSecondsAfterFinished", *ttl);
    if (settings.suspended) out.member("suspend", true);
    out.key("template");
    pods::write_template(out, pod);
  });
}

}  // namespace stackgate::customizer::objects
