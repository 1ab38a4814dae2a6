#include "services/customizer/job/progress.hpp"

#include <algorithm>
#include <cmath>
#include <expected>
#include <utility>

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::customizer {
namespace progress_detail {

constexpr json::ParseLimits event_limits{.max_depth = 8, .max_bytes = 64U << 10U};
constexpr std::uint64_t most_steps = 1ULL << 40U;
constexpr std::size_t longest_error = 2000;

std::uint64_t count_at(const json::Value& of, std::string_view key) {
  const std::int64_t found = json::integer(&of, {key});
  return found < 0 ? 0 : std::min(static_cast<std::uint64_t>(found), most_steps);
}

/// Finite, or nothing: a loss of NaN is written as null.
std::optional<double> real_at(const json::Value& of, std::string_view key) {
  const json::Value found = json::value_at(&of, {key});
  return found.is_number() && std::isfinite(found.number()) ? std::optional(found.number()) : std::nullopt;
}

std::uint32_t percent_of(const Progress& progress) {
  if (progress.max_steps == 0) return 0;
  // Trained is more than the last step: the adapter is written, too.
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(99, 100 * progress.step / progress.max_steps));
}

void start(Progress& progress, const json::Value& event) {
  progress.max_steps = count_at(event, "max_steps");
  progress.num_epochs = real_at(event, "num_epochs").value_or(0);
  progress.examples = count_at(event, "examples");
  progress.tokens = count_at(event, "tokens");
  progress.trainable_parameters = count_at(event, "trainable_parameters");
  progress.error.clear();
}

std::optional<ReportChange::Point> step(Progress& progress, const json::Value& event) {
  const std::uint64_t number = count_at(event, "step");
  if (number <= progress.step) return std::nullopt;
  progress.step = number;
  progress.max_steps = std::max(count_at(event, "max_steps"), number);
  progress.epoch = real_at(event, "epoch").value_or(progress.epoch);
  progress.train_loss = real_at(event, "loss");
  progress.learning_rate = real_at(event, "learning_rate").value_or(0);
  progress.tokens_per_second = real_at(event, "tokens_per_second").value_or(0);
  progress.eta_seconds = real_at(event, "eta_seconds").value_or(0);
  progress.percent = std::max(progress.percent, percent_of(progress));
  return ReportChange::Point{.step = number,
                             .train_loss = progress.train_loss,
                             .learning_rate = real_at(event, "learning_rate"),
                             .tokens_per_second = real_at(event, "tokens_per_second"),
                             .epoch = real_at(event, "epoch")};
}

std::optional<ReportChange::Point> validation(Progress& progress, const json::Value& event) {
  const std::uint64_t number = count_at(event, "step");
  if (number <= progress.validated_step) return std::nullopt;
  progress.validated_step = number;
  progress.val_loss = real_at(event, "val_loss");
  if (progress.val_loss && *progress.val_loss < progress.best_val_loss.value_or(HUGE_VAL)) {
    progress.best_val_loss = progress.val_loss;
    progress.best_epoch = progress.epoch;
  }
  return ReportChange::Point{.step = number, .val_loss = progress.val_loss};
}

void done(Progress& progress, const json::Value& event) {
  if (const auto loss = real_at(event, "train_loss")) progress.train_loss = loss;
  if (const auto loss = real_at(event, "val_loss")) progress.val_loss = loss;
  progress.archive = json::text(&event, {"archive"});
  progress.sha256 = json::text(&event, {"sha256"});
  progress.eta_seconds = 0;
  progress.percent = 100;
  progress.error.clear();
}

void error(Progress& progress, const json::Value& event) {
  const std::string_view file = json::text(&event, {"file"}), message = json::text(&event, {"message"});
  const std::uint64_t line = count_at(event, "line");
  const std::string place = line != 0      ? fmt::format("{}:{}: ", file, line)
                            : file.empty() ? ""
                                           : fmt::format("{}: ", file);
  progress.error = (place + std::string(message)).substr(0, longest_error);
}

struct Named {
  std::string_view key;
  double Progress::* member;
};
constexpr Named reals[] = {{"epoch", &Progress::epoch},
                           {"num_epochs", &Progress::num_epochs},
                           {"learning_rate", &Progress::learning_rate},
                           {"tokens_per_second", &Progress::tokens_per_second},
                           {"eta_seconds", &Progress::eta_seconds}};
struct NamedCount {
  std::string_view key;
  std::uint64_t Progress::* member;
};
constexpr NamedCount counts[] = {{"step", &Progress::step},
                                 {"max_steps", &Progress::max_steps},
                                 {"validated_step", &Progress::validated_step},
                                 {"examples", &Progress::examples},
                                 {"tokens", &Progress::tokens},
                                 {"trainable_parameters", &Progress::trainable_parameters}};
struct NamedOptional {
  std::string_view key;
  std::optional<double> Progress::* member;
};
constexpr NamedOptional optionals[] = {{"train_loss", &Progress::train_loss},
                                       {"val_loss", &Progress::val_loss},
                                       {"best_val_loss", &Progress::best_val_loss},
                                       {"best_epoch", &Progress::best_epoch}};
struct NamedText {
  std::string_view key;
  std::string Progress::* member;
};
constexpr NamedText texts[] = {
    {"archive", &Progress::archive}, {"sha256", &Progress::sha256}, {"error", &Progress::error}};

/// The error is a sentence.
std::expected<void, std::string> apply_event(Progress& progress, const json::Value& event, std::string_view job_id,
                                             ReportChange& out) {
  if (!event.is_object()) return std::unexpected("an event is a JSON object");
  if (const std::string_view job = json::text(&event, {"job_id"}); job != job_id)
    return std::unexpected(fmt::format("the event is of another job, \"{}\"", job.substr(0, 64)));
  const std::string_view kind = json::text(&event, {"event"});
  std::optional<ReportChange::Point> point;
  if (kind == "start")
    start(progress, event);
  else if (kind == "step")
    point = step(progress, event);
  else if (kind == "validation")
    point = validation(progress, event);
  else if (kind == "done")
    done(progress, event);
  else if (kind == "error")
    error(progress, event);
  else if (kind != "checkpoint")
    return std::unexpected(fmt::format("there is no event \"{}\"", kind.substr(0, 64)));
  if (point) out.points.push_back(*point);
  out.trained = out.trained || kind == "done";
  return {};
}

}  // namespace progress_detail

ReportChange apply_report(Progress& progress, std::string_view body, std::string_view job_id) {
  using namespace progress_detail;
  ReportChange out;
  json::Document document;
  const auto root = json::parse(body, document, event_limits);
  if (!root) {
    out.problem = "the event is no JSON: " + root.error().message;
    return out;
  }
  const Progress before = progress;
  const auto take = [&](const json::Value& event) {
    auto done = apply_event(progress, event, job_id, out);
    if (!done && out.problem.empty()) out.problem = std::move(done.error());
  };
  if (root->is_array())
    for (const json::Value& each : root->items()) take(each);
  else
    take(*root);
  out.changed = !(progress == before);
  return out;
}

std::string progress_json(const Progress& progress) {
  using namespace progress_detail;
  return json::object_text([&](json::Writer& w) {
    for (const auto& each : counts)
      if (progress.*each.member != 0) w.member(each.key, progress.*each.member);
    for (const auto& each : reals)
      if (progress.*each.member != 0) w.member(each.key, progress.*each.member);
    for (const auto& each : optionals)
      if (const auto& value = progress.*each.member) w.member(each.key, *value);
    for (const auto& each : texts)
      if (const std::string& text = progress.*each.member; !text.empty()) w.member(each.key, text);
    w.member("percent", progress.percent);
  });
}

Progress read_progress(std::string_view json) {
  using namespace progress_detail;
  Progress out;
  json::Document document;
  const auto root = json::parse(json, document, event_limits);
  if (!root) return out;
  for (const auto& each : counts) out.*each.member = count_at(*root, each.key);
  for (const auto& each : reals) out.*each.member = real_at(*root, each.key).value_or(0);
  for (const auto& each : optionals) out.*each.member = real_at(*root, each.key);
  for (const auto& each : texts) out.*each.member = json::text(&*root, {each.key});
  out.percent = static_cast<std::uint32_t>(std::min<std::uint64_t>(100, count_at(*root, "percent")));
  return out;
}

}  // namespace stackgate::customizer
