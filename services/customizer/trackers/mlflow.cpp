#include "services/customizer/trackers/mlflow.hpp"

#include <utility>

#include <fmt/ranges.h>

#include "services/customizer/api/adapter.hpp"
#include "services/customizer/trackers/run_files.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/mlflow/artifacts.hpp"

namespace stackgate::customizer {
namespace mlflow_detail {

constexpr std::string_view tag = "customization";
constexpr std::int64_t points_at_once = mlflow::most_metrics / most_metrics_of_a_point, batches_at_once = 25;

template <class T>
using Answer = std::expected<T, TrackerFault>;

mlflow::Status status_of(State state) {
  if (state == State::completed) return mlflow::Status::finished;
  return state == State::failed ? mlflow::Status::failed : mlflow::Status::killed;
}

/// Of an answer that has to have something in it; one without may be another server's, for a while.
Answer<std::string> read(std::expected<std::string, std::string> found) {
  if (found) return std::move(*found);
  return std::unexpected(TrackerFault{.passes = true, .words = found.error()});
}

class Mlflow final : public Tracker {
 public:
  Mlflow(MlflowOptions options, std::function<bool()> give_up)
      : experiment_name_(std::move(options.experiment)),
        authorization_(mlflow::authorization(options.server)),
        calls_(options.server.url, options.server.ca_file, std::move(give_up)) {}

  std::string_view key() const override { return "mlflow"; }
  std::string_view name() const override { return "MLflow"; }
  Sent send(Tracking& tracking, const Customization& job, const Records& records) override {
    const auto done = send_all(tracking, job, records);
    if (!done) return done.error().sent();
    if (!is_final(job.state) || !*done) return {Sent::Kind::going_on};
    auto files = send_files(tracking, job, records);
    if (!files && !files.error().passes) files = takes_no_files(files.error().words);
    const auto ended = call(mlflow::update_run(tracking.run, status_of(job.state), job.ended_at * 1'000));
    if (!ended) return ended.error().sent();
    return files ? Sent{Sent::Kind::over} : Sent{Sent::Kind::later, files.error().words};
  }

 private:
  Answer<std::string> call(const mlflow::Call& what) {
    return calls_.call(what.method, what.path, what.body, authorization_, what.content_type);
  }

  /// False: there are more points.
  Answer<bool> send_all(Tracking& tracking, const Customization& job, const Records& records) {
    if (tracking.run.empty()) tracking.run = TRY(open(job));
    for (int i = 0; i < batches_at_once; ++i) {
      const auto stored = records.points(job.id, step_before(tracking.sent), points_at_once);
      if (!stored) return std::unexpected(TrackerFault{.passes = true, .words = stored.error().message});
      const std::vector<MetricPoint> points = unsent(*stored, tracking.sent);
      if (points.empty()) return true;
      (void)TRY(call(mlflow::log_metrics(tracking.run, metrics_of_all(points))));
      tracking.sent = sent_of(points.back());
    }
    return false;
  }

  /// And what names the adapter.
  Answer<void> send_files(const Tracking& tracking, const Customization& job, const Records& records) {
    if (job.state == State::completed) (void)TRY(call(mlflow::log_tags(tracking.run, adapter_tags_of(job))));
    const auto uri = mlflow::read_artifact_uri(TRY(call(mlflow::get_run(tracking.run))));
    if (!uri) return std::unexpected(TrackerFault{.passes = true, .words = uri.error()});
    const auto root = mlflow::artifact_root(*uri);
    if (!root) return std::unexpected(TrackerFault{.words = root.error()});
    auto files = files_of(job, records);
    if (!files) return std::unexpected(TrackerFault{.passes = true, .words = files.error().message});
    for (RunFile& each : *files) {
      const auto put = call(mlflow::put_artifact(*root, each.name, std::move(each.content)));
      if (put) continue;
      const TrackerFault& why = put.error();
      return std::unexpected(TrackerFault{.passes = why.passes && !mlflow::has_no_proxy(why.status, why.body),
                                          .words = fmt::format("{}: {}", each.name, why.words)});
    }
    without_files_.clear();
    return {};
  }

  /// Once for each reason: it is the server's, and not that of a customization.
  Answer<void> takes_no_files(const std::string& cause) {
    if (std::exchange(without_files_, cause) != cause)
      log::warning("MLflow does not take the files of customizations; they are recorded without them",
                   {{"cause", cause}});
    return {};
  }

  static std::vector<mlflow::Pair> adapter_tags_of(const Customization& job) {
    std::vector<mlflow::Pair> out{{"adapter", output_model_of(job, read_stored(job.request)).text()}};
    if (std::string sum = read_progress(job.progress).sha256; !sum.empty())
      out.push_back({"adapter_sha256", std::move(sum)});
    return out;
  }

  static std::vector<mlflow::Metric> metrics_of_all(const std::vector<MetricPoint>& points) {
    std::vector<mlflow::Metric> out;
    for (const MetricPoint& each : points)
      for (const auto& [name, value] : metrics_of(each))
        out.push_back({std::string(name), value, each.at * 1'000, each.step});
    return out;
  }

  Answer<std::string> experiment() {
    auto found = call(mlflow::find_experiment(experiment_name_));
    if (!found && mlflow::read_refusal(found.error().body).code == "RESOURCE_DOES_NOT_EXIST") {
      found = call(mlflow::create_experiment(experiment_name_));
      // Another replica was quicker: it is found the next time.
      if (!found && mlflow::read_refusal(found.error().body).code == "RESOURCE_ALREADY_EXISTS")
        found.error().passes = true;
    }
    return read(mlflow::read_experiment(TRY(std::move(found))));
  }

  /// What people look for in MLflow's lists, and MLflow's own names for where a run comes from.
  static std::vector<mlflow::Pair> tags_of(const Customization& job) {
    const CustomizationRequest request = read_stored(job.request);
    std::vector<mlflow::Pair> out{{std::string(tag), job.id},
                                  {"customization_name", job.name},
                                  {"model", request.target.name},
                                  {"dataset", request.dataset.repository},
                                  {"dataset_commit", request.dataset.revision},
                                  {"output_model", output_model_of(job, request).text()},
                                  {"mlflow.source.name", "stackgate-customizer"},
                                  {"mlflow.source.type", "JOB"}};
    if (!request.description.empty()) out.push_back({"mlflow.note.content", request.description});
    if (!request.tags.empty()) out.push_back({"tags", fmt::format("{}", fmt::join(request.tags, ","))});
    return out;
  }

  /// The run of this customization: the one that is there, or a new one.
  Answer<std::string> open(const Customization& job) {
    const std::string experiment_id = TRY(experiment());
    std::string run = TRY(read(mlflow::read_found_run(TRY(call(mlflow::find_run(experiment_id, tag, job.id))))));
    if (run.empty()) {
      run = TRY(read(mlflow::read_run(
          TRY(call(mlflow::create_run(experiment_id, job.name, tags_of(job), job.created_at * 1'000))))));
    }
    std::vector<mlflow::Pair> params;
    for (auto& [key, value] : parameters_of(job)) params.push_back({std::move(key), std::move(value)});
    // They never change: sent again they are the same.
    (void)TRY(call(mlflow::log_params(run, params)));
    return run;
  }

  const std::string experiment_name_, authorization_;
  const TrackerCalls calls_;
  std::string without_files_{};  // why, as it was logged
};

}  // namespace mlflow_detail

std::unique_ptr<Tracker> mlflow_tracker(MlflowOptions options, std::function<bool()> give_up) {
  return std::make_unique<mlflow_detail::Mlflow>(std::move(options), std::move(give_up));
}

}  // namespace stackgate::customizer
