// What a stage's objects report: how far it is, and in one sentence why it waits or has failed. Pure and thread-safe.
// Sources: Volcano's VolcanoJob and PodGroup pages and its design page on scheduling reasons; Kueue's "Troubleshooting
// Jobs" and Workload pages; Kubernetes' Job page; tests/customizer/observe has statuses as these show them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "services/customizer/job/next.hpp"
#include "services/customizer/setup/setup.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::customizer {

/// As the API server gives them; nullptr is none. All must live until the function returns.
struct StageObjects {
  std::string_view id{};  // of the customization: what its objects are labelled with
  Stage stage = Stage::download;
  Scheduler scheduler = Scheduler::plain;  // of trainings; the other stages are plain Jobs
  std::string_view queue{};
  const json::Value* job = nullptr;  // of the newest attempt: a Volcano Job or a batch Job
  bool needs_model = false;          // download: the model has an address
  const json::Value* model_job = nullptr;
  const json::Value* pod_group = nullptr;  // Volcano
  const json::Value* workload = nullptr;   // Kueue
  std::vector<const json::Value*> pods{}, model_pods{};
  std::vector<const json::Value*> events{};  // of the Jobs and their pods, any order
};

/// The dataset's and the model's Job together are the download: it is done when both are.
StageSight sight_of(const StageObjects& objects);

/// Exit codes that another attempt may not meet: the trainer's "stopped behind a checkpoint", the puller's "no answer"
/// and "other bytes than were listed"; the upload's are those of the puller.
bool may_retry_after(Stage stage, std::int64_t exit_code);

/// Whether the shared Job of a model has failed, so that it has to be made anew.
bool has_failed(const json::Value& batch_job);

/// The node of the first pod that has one; empty: none has.
std::string node_of(const std::vector<const json::Value*>& pods);

}  // namespace stackgate::customizer
