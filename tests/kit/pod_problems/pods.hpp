// Pods as the API server gives them: a frame with what a case is about filled in.
#pragma once
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace stackgate::pods::tests {

struct PodText {
  std::string_view phase = "Pending";
  std::string_view scheduled = R"("status": "True")";  // of the condition PodScheduled
  std::string_view ready = R"("status": "False", "reason": "ContainersNotReady")";
  std::string_view container = R"("state": {"waiting": {"reason": "ContainerCreating"}})";
  std::string_view init = {};    // of the init container migrate; empty: there is none
  std::string_view status = {};  // more members of status, with a comma behind
  std::string_view policy = "Always";
  bool container_ready = false;
};

inline std::string pod_text(const PodText& pod) {
  const std::string init =
      pod.init.empty()
          ? std::string()
          : fmt::format(
                R"("initContainerStatuses": [{{"name": "migrate", "ready": false, "image": "registry.example.com/datastore:1", {}}}],)",
                pod.init);
  return fmt::format(R"({{
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {{"name": "llm-7c9d8b6f5-x2kq9", "namespace": "ml", "labels": {{"app": "llm"}}}},
    "spec": {{
      "nodeName": "gpu-1", "restartPolicy": "{}",
      "imagePullSecrets": [{{"name": "registry-pull"}}],
      "initContainers": [{{"name": "migrate", "image": "registry.example.com/datastore:1"}}],
      "containers": [{{
        "name": "server", "image": "registry.example.com/llm:1.8",
        "resources": {{"limits": {{"nvidia.com/gpu": "8", "memory": "64Gi"}}, "requests": {{"nvidia.com/gpu": "8", "memory": "64Gi", "cpu": "500m"}}}}}}],
      "volumes": [{{"name": "model", "persistentVolumeClaim": {{"claimName": "llm-pvc"}}}}, {{"name": "tmp", "emptyDir": {{}}}}]
    }},
    "status": {{
      "phase": "{}", {}
      "conditions": [
        {{"type": "Initialized", "status": "True"}},
        {{"type": "Ready", "lastTransitionTime": "2026-11-20T10:00:00Z", {}}},
        {{"type": "ContainersReady", "status": "False", "reason": "ContainersNotReady", "message": "containers with unready status: [server]"}},
        {{"type": "PodScheduled", {}}}],
      {}
      "containerStatuses": [{{"name": "server", "ready": {}, "image": "registry.example.com/llm:1.8", {}}}]
    }}
  }})",
                     pod.policy, pod.phase, pod.status, pod.ready, pod.scheduled, init, pod.container_ready,
                     pod.container);
}

}  // namespace stackgate::pods::tests
