// A run: data in, an adapter out, with checkpoints on the way.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "services/trainer/checkpoint/checkpoint.hpp"
#include "services/trainer/config/hyperparameters.hpp"
#include "services/trainer/report/report.hpp"
#include "services/trainer/training/failure.hpp"

namespace stackgate::trainer {

struct TrainSettings {
  std::string model, output, chat_template{};
  std::string base_model_name{};  // of adapter_config.json; the model's directory when empty
  std::vector<std::string> train, validation{};
  Hyperparameters parameters{};
  bool resume = false;
};

/// `stop` is asked after each step. Ending::stopped is no failure: a checkpoint was written. The result lies in
/// `output` and in `output`.tar.gz, which are both there or neither, once this returns Ending::done; until then all is
/// in `output`.part.
Result<Ending> train(const TrainSettings& settings, Report& report, const std::function<bool()>& stop,
                     const FailPoint& fail_point);

}  // namespace stackgate::trainer
