#include "services/customizer/runs/executor.hpp"

namespace stackgate::customizer {

TrainingJob training_job(const CustomizationRequest& request) {
  return {.name = request.name,
          .target = request.target,
          .option = request.config.option,
          .hyperparameters = request.hyperparameters,
          .dataset_repository = request.dataset.repository,
          .dataset_commit = request.dataset.revision,
          .training_files = request.dataset.training_files,
          .validation_files = request.dataset.validation_files};
}

Work work_of(Stored stored) {
  Work out{.stored = std::move(stored)};
  out.request = read_stored(out.stored.job.request);
  out.job = training_job(out.request);
  out.job.id = out.stored.job.id;
  out.job.name = out.stored.job.name;
  out.job.progress_token = out.stored.token;
  out.job.traceparent = out.stored.traceparent;
  return out;
}

}  // namespace stackgate::customizer
