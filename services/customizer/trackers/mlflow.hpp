// Customizations as runs of MLflow's tracking server: parameters, tags, losses and rates by step, how it ended.
#pragma once
#include <memory>
#include <string>

#include "services/customizer/trackers/tracker.hpp"
#include "services/kit/mlflow/run.hpp"

namespace stackgate::customizer {

struct MlflowOptions {
  mlflow::Server server{};  // without a URL there is none
  std::string experiment = "customizations";
};

std::unique_ptr<Tracker> mlflow_tracker(MlflowOptions options, std::function<bool()> give_up);

}  // namespace stackgate::customizer
