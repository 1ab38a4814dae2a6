// stackgate-customizer as a process: settings in, a server or a command out.
#pragma once
#include <expected>

#include "services/customizer/front/front.hpp"
#include "services/customizer/runs/local/local.hpp"
#include "services/customizer/setup/setup.hpp"
#include "services/customizer/trackers/mlflow.hpp"
#include "services/customizer/trackers/wandb.hpp"
#include "services/kit/base/error.hpp"
#include "services/kit/metrics/registry.hpp"
#include "services/kit/service/service.hpp"
#include "services/kit/settings/settings.hpp"

namespace stackgate::customizer {

settings::Program program();
/// What one setting has to do with another. Pure.
validate::Findings check_options(const settings::Values& values);

// Of good settings.

Limits limits_of(const settings::Values& values);
CatalogueFolders folders_of(const settings::Values& values);
MlflowOptions mlflow_options(const settings::Values& values);
WandbOptions wandb_options(const settings::Values& values);
/// `callback_url`: where trainers report to.
LocalOptions local_options(const settings::Values& values, const std::string& callback_url);

/// Of --customizer-config-file: read, with its findings.
std::expected<SetupRead, Error> setup_of(const settings::Values& values);

struct ExecutorParts {
  std::unique_ptr<Executor> executor{};
  Limits limits{};
  std::vector<service::Check> checks{};  // they use the executor
  std::vector<std::pair<std::string, std::string>> about{};
};
/// Processes of this machine, or jobs of a cluster. `catalogue` must outlive it; `fail`: empty in production.
std::expected<ExecutorParts, Error> make_executor(const settings::Values& values, const CatalogueFolder& catalogue,
                                                  const std::string& callback_url, const FailPoint& fail);

/// `fail`: empty in production.
std::expected<service::Parts, Error> build(const settings::Values& values, metrics::Registry& metrics,
                                           const FailPoint& fail);

/// migrate, check; the exit status.
int run_command(const settings::Values& values);

}  // namespace stackgate::customizer
