// A run in MLflow, from the same events that are reported (services/kit/mlflow). Nothing here waits but the end.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "services/kit/mlflow/run.hpp"
#include "services/trainer/report/events.hpp"

namespace stackgate::trainer {

struct TrackingSettings {
  mlflow::Server server{};
  std::string experiment = "Default", run_name{}, run_id{};  // an id: of a run to go on with
};

/// What a tracker records of a run besides its events.
struct RunFacts {
  std::vector<std::pair<std::string, std::string>> parameters{};
  std::string dataset{}, base_model{};
  std::string id_file{};  // where the id of its record is kept, for a run that goes on after a stop
};

class Tracking {
 public:
  Tracking(const TrackingSettings& settings, const std::string& job, const RunFacts& facts);

  void step(const Stepped& event);
  void validation(std::uint64_t step, double loss);
  /// The adapter's configuration and weights are to be sent at the end, below "adapter/".
  void done(const Finished& event);
  /// Warns when something of it was lost.
  void end(mlflow::Status status);

 private:
  mlflow::Run run_;
};

}  // namespace stackgate::trainer
