// How workflows are made and where they run; what of it the pure part needs is in here, too.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "services/evaluator/api/framework.hpp"

namespace stackgate::evaluator {

struct WorkflowOptions {
  std::string server_url{};  // "https://argo-server.argo:2746"; empty: processes on this machine
  std::string kubernetes_namespace{};
  std::string token_file{};       // read again for each call; empty, or not there: no token is sent
  std::string token{};            // not empty: sent instead
  std::string ca_file{};          // PEM; empty: the system's authorities
  std::string ca_text{};          // PEM itself; not empty: instead of ca_file
  bool insecure = false;          // TLS without asking who answers
  std::string service_account{};  // that the workflow's pods run as
  std::array<std::string, framework_names.size()> images{};  // by Framework; empty: not configured
  std::vector<std::string> image_pull_secrets{};
  /// A Secret beside the workflows, with the keys of endpoints under "model", "judge", "embeddings" and "datastore".
  /// Each may be missing. Keys themselves are never part of a workflow.
  std::string api_key_secret = "stackgate-evaluator-keys";
  /// Where frameworks read STACKGATE_DATASET, as huggingface_hub's HF_ENDPOINT; empty: nowhere. The token is for
  /// processes here; workflows have one in the Secret, under "datastore".
  std::string datastore_url{}, datastore_token{};
  /// A data set of the datastore, "ada/results", where frameworks may leave their files below the evaluation's id;
  /// empty: none. They are told where as STACKGATE_RESULTS.
  std::string results_repository{};
  /// Not empty: workflows are made of the WorkflowTemplates "<prefix>-<framework>" that are there; their spec is sent
  /// along otherwise.
  std::string template_prefix{};
  std::chrono::seconds deadline{24 * 3600};           // of a workflow or a process
  std::chrono::seconds keep_finished{7 * 24 * 3600};  // then the server deletes the workflow
  /// Argo keeps the pods' logs as artifacts; it needs an artifact repository for that.
  bool archive_logs = false;
  std::chrono::milliseconds stop_grace{60'000};  // between stop, which lets exit handlers run, and terminate
  std::uint32_t pod_retries = 2;                 // where a pod was lost, not where the framework failed
  std::uint32_t workflow_retries = 1;            // where the workflow itself ended in an error
  std::chrono::milliseconds patience{600'000};   // with a server that is away
  std::chrono::milliseconds pause{2'000};        // before it is asked once more; doubled up to 30 s
  std::string work_directory = "/tmp";           // of processes: each gets a directory of its own below it

  const std::string& image(Framework framework) const { return images.at(static_cast<std::size_t>(framework)); }
};

}  // namespace stackgate::evaluator
