// A run: data in, an adapter out, with checkpoints on the way.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "services/model/hyperparameters/hyperparameters.hpp"
#include "services/trainer/checkpoint/checkpoint.hpp"
#include "services/trainer/learn/group.hpp"
#include "services/trainer/learn/learner.hpp"
#include "services/trainer/report/report.hpp"
#include "services/trainer/training/failure.hpp"

namespace stackgate::trainer {

struct TrainSettings {
  std::string model, output, chat_template{};
  std::string base_model_name{};  // of adapter_config.json; the model's directory when empty
  std::vector<std::string> train, validation{};
  model::Hyperparameters parameters{};
  bool resume = false;
  GroupSettings group{};              // of size 1: this process alone
  unsigned processes_of_machine = 1;  // which share its cores
};

/// What computes.
struct Backend {
  OpenLearner open_learner;
  OpenGroup open_group{};  // asked of a group of several
};

/// `backend` is asked once the input is known to be right. Of a group, rank 0 alone writes and needs `output`, and all
/// end alike; that a rank is lost is a failure with Ending::stopped. `stop` is asked after each step. Ending::stopped
/// is no failure: a checkpoint was written. The result lies in `output` and in `output`.tar.gz, which are both there or
/// neither, once this returns Ending::done; until then all is in `output`.part.
Result<Ending> train(const TrainSettings& settings, const Backend& backend, Report& report,
                     const std::function<bool()>& stop, const FailPoint& fail_point);

}  // namespace stackgate::trainer
