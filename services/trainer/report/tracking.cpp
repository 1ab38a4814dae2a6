#include "services/trainer/report/tracking.hpp"

#include <fstream>

#include <fmt/format.h>

#include "services/kit/log/log.hpp"

namespace stackgate::trainer {
namespace tracking_detail {

/// Of an earlier part of this run; empty where there is none.
std::string kept_id(const std::string& file) {
  std::string out;
  std::ifstream in(file);
  std::getline(in, out);
  return out.size() <= mlflow::longest_id ? out : "";
}

mlflow::NewRun described(const TrackingSettings& settings, const std::string& job, const RunFacts& facts) {
  mlflow::NewRun out{.experiment = settings.experiment, .name = settings.run_name.empty() ? job : settings.run_name};
  out.id = settings.run_id.empty() ? kept_id(facts.id_file) : settings.run_id;
  for (const auto& [key, value] :
       {std::pair("job_id", &job), std::pair("dataset", &facts.dataset), std::pair("base_model", &facts.base_model)})
    if (!value->empty()) out.tags.push_back({key, *value});
  for (const auto& [name, value] : facts.parameters) out.params.push_back({name, value});
  return out;
}

}  // namespace tracking_detail

Tracking::Tracking(const TrackingSettings& settings, const std::string& job, const RunFacts& facts)
    : run_(settings.server, tracking_detail::described(settings, job, facts), [file = facts.id_file](const auto& id) {
        // A run that cannot keep it begins another record when it goes on.
        std::ofstream(file) << id << "\n";
      }) {}

void Tracking::step(const Stepped& event) {
  const std::int64_t now = mlflow::now_in_milliseconds();
  run_.log({{"train_loss", event.loss, now, event.step},
            {"learning_rate", event.learning_rate, now, event.step},
            {"grad_norm", event.grad_norm, now, event.step},
            {"tokens_per_second", event.tokens_per_second, now, event.step}});
}

void Tracking::validation(std::uint64_t step, double loss) {
  run_.log({{"val_loss", loss, mlflow::now_in_milliseconds(), step}});
}

void Tracking::done(const Finished& event) {
  std::vector<mlflow::File> files;
  for (const char* const name : {"adapter_config.json", "training.json", "adapter_model.safetensors"})
    files.push_back({fmt::format("adapter/{}", name), fmt::format("{}/{}", event.path, name)});
  run_.attach(std::move(files));
}

void Tracking::end(mlflow::Status status) {
  const mlflow::Counts counts = run_.end(status);
  if (counts.lost != 0) log::warning("MLflow did not get all metrics", {{"lost", counts.lost}, {"sent", counts.sent}});
  if (counts.files_lost != 0)
    log::warning("MLflow did not get all files of the adapter",
                 {{"lost", counts.files_lost}, {"sent", counts.files_sent}});
}

}  // namespace stackgate::trainer
