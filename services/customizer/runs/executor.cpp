#include "services/customizer/runs/executor.hpp"

namespace stackgate::customizer {

Work work_of(Stored stored) {
  Work out{.stored = std::move(stored)};
  out.request = read_stored(out.stored.job.request);
  const CustomizationRequest& request = out.request;
  out.job = {.id = out.stored.job.id,
             .name = out.stored.job.name,
             .target = request.target,
             .option = request.config.option,
             .hyperparameters = request.hyperparameters,
             .dataset_repository = request.dataset.repository,
             .dataset_commit = request.dataset.revision,
             .training_files = request.dataset.training_files,
             .validation_files = request.dataset.validation_files,
             .progress_token = out.stored.token};
  return out;
}

}  // namespace stackgate::customizer
