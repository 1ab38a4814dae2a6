#include "services/customizer/trackers/wandb.hpp"

#include <fmt/format.h>

#include "services/kit/base/base64.hpp"
#include "services/kit/base/percent.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/sealed.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::customizer {
namespace wandb_detail {

constexpr std::int64_t points_at_once = 1'000;
constexpr std::string_view upsert =
    "mutation UpsertBucket($name: String, $project: String, $entity: String, $displayName: String, $config: "
    "JSONString) { upsertBucket(input: {name: $name, modelName: $project, entityName: $entity, displayName: "
    "$displayName, config: $config}) { bucket { name project { name entity { name } } } } }";

template <class T>
using Answer = std::expected<T, TrackerFault>;

std::string place_of(std::string_view name) { return fmt::format("wandb-api-key of {}", name); }

class Wandb final : public Tracker {
 public:
  Wandb(WandbOptions options, std::function<bool()> give_up)
      : options_(std::move(options)), calls_(options_.url, options_.ca_file, std::move(give_up)) {}

  std::string_view key() const override { return "wandb"; }
  std::string_view name() const override { return "Weights & Biases"; }
  Sent send(Tracking& tracking, const Customization& job, const Records& records) override {
    const auto done = send_all(tracking, job, records);
    return done ? Sent{is_final(job.state) && *done ? Sent::Kind::over : Sent::Kind::going_on} : done.error().sent();
  }

 private:
  Answer<std::string> authorization(const Tracking& tracking, const Customization& job) const {
    std::string api_key = options_.api_key;
    if (!tracking.secret.empty()) {
      auto opened = crypto::open_sealed(options_.encryption_key, tracking.secret, place_of(job.name));
      if (!opened) return std::unexpected(TrackerFault{.words = "its API key was encrypted with another key"});
      api_key = std::move(*opened);
    }
    return "Basic " + base64::encode("api:" + api_key);
  }

  Answer<bool> send_all(Tracking& tracking, const Customization& job, const Records& records) {
    const std::string credentials = TRY(authorization(tracking, job));
    if (tracking.run.empty()) {
      const auto upserted = read_upserted(
          TRY(calls_.call("POST", "/graphql", upsert_body(job, options_.entity, options_.project), credentials)));
      if (!upserted) return std::unexpected(TrackerFault{.words = upserted.error()});
      tracking.run = *upserted;
    }
    const std::string stream = fmt::format("/files/{}/file_stream", tracking.run);
    const auto stored = records.points(job.id, tracking.sent, points_at_once);
    if (!stored) return std::unexpected(TrackerFault{.passes = true, .words = stored.error().message});
    std::vector<MetricPoint> points = *stored;
    const bool has_all = std::ssize(points) < points_at_once;
    // A line cannot be changed: the newest step may still get its validation loss.
    if (has_all && !is_final(job.state) && !points.empty()) points.pop_back();
    if (!points.empty()) {
      (void)TRY(calls_.call("POST", stream, history_body(points, tracking.lines), credentials));
      tracking.sent = static_cast<std::int64_t>(points.back().step);
      tracking.lines += std::ssize(points);
    }
    if (has_all && is_final(job.state)) (void)TRY(calls_.call("POST", stream, end_body(job), credentials));
    return has_all;
  }

  const WandbOptions options_;
  const TrackerCalls calls_;
};

}  // namespace wandb_detail

using namespace wandb_detail;

std::unique_ptr<Tracker> wandb_tracker(WandbOptions options, std::function<bool()> give_up) {
  return std::make_unique<Wandb>(std::move(options), std::move(give_up));
}

std::string seal_api_key(const WandbOptions& options, std::string_view api_key, std::string_view customization_name) {
  return crypto::seal(options.encryption_key, api_key, place_of(customization_name));
}

std::string upsert_body(const Customization& job, std::string_view entity, std::string_view project) {
  const std::string config = json::object_text([&](json::Writer& w) {
    for (const auto& [key, value] : parameters_of(job)) w.object(key, [&] { w.member("value", value); });
  });
  return json::object_text([&](json::Writer& w) {
    w.member("query", upsert);
    w.object("variables", [&] {
      w.member("name", job.id);
      w.member("project", project);
      if (!entity.empty()) w.member("entity", entity);
      w.member("displayName", job.name);
      w.member("config", config);
    });
  });
}

std::expected<std::string, std::string> read_upserted(std::string_view body) {
  json::Document document;
  const auto root = json::parse(body, document, {.max_depth = 32, .max_bytes = 1U << 20U});
  if (!root) return std::unexpected("it answers with what is no JSON");
  for (const json::Value& each : json::items(&*root, {"errors"}))
    return std::unexpected(std::string(json::text(&each, {"message"}).substr(0, 300)));
  const std::string_view entity = json::text(&*root, {"data", "upsertBucket", "bucket", "project", "entity", "name"}),
                         project = json::text(&*root, {"data", "upsertBucket", "bucket", "project", "name"}),
                         run = json::text(&*root, {"data", "upsertBucket", "bucket", "name"});
  if (entity.empty() || project.empty() || run.empty()) return std::unexpected("it answers without a run");
  return fmt::format("{}/{}/{}", percent_encode(entity), percent_encode(project), percent_encode(run));
}

std::string history_body(std::span<const MetricPoint> points, std::int64_t lines) {
  return json::object_text([&](json::Writer& w) {
    w.object("files", [&] {
      w.object("wandb-history.jsonl", [&] {
        w.member("offset", lines);
        w.array("content", [&] {
          for (const MetricPoint& each : points)
            w.value(json::object_text([&](json::Writer& line) {
              line.member("_step", each.step);
              line.member("_timestamp", each.at);
              for (const auto& [name, value] : metrics_of(each)) line.member(name, value);
            }));
        });
      });
    });
  });
}

std::string end_body(const Customization& job) {
  const Progress progress = read_progress(job.progress);
  return json::object_text([&](json::Writer& w) {
    w.object("files", [&] {
      w.object("wandb-summary.json", [&] {
        w.member("offset", 0);
        w.array("content", [&] {
          w.value(json::object_text([&](json::Writer& line) {
            line.member("_step", progress.step);
            for (const auto& [name, value] : metrics_of(
                     {.train_loss = progress.train_loss, .val_loss = progress.val_loss, .epoch = progress.epoch}))
              line.member(name, value);
          }));
        });
      });
    });
    w.member("complete", true);
    w.member("exitcode", job.state == State::completed ? 0 : 1);
  });
}

}  // namespace stackgate::customizer
