#include "services/customizer/trackers/run_files.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "services/customizer/api/show.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::customizer {
namespace run_files_detail {

constexpr std::int64_t shown_points = 500, shown_logs = 200;  // as GET has them
constexpr std::int64_t most_points = 10'000, last_lines = 2'000;
constexpr std::size_t longest_log = 256U << 10U;

std::string time_of(Seconds at) { return to_rfc3339(std::chrono::sys_seconds(std::chrono::seconds(at))); }

void append(std::string& line, const std::optional<double>& value) {
  line += ',';
  if (value) line += fmt::format("{}", *value);
}

sql::Expected<std::string> record_of(const Customization& job, const Records& records) {
  const std::vector<MetricPoint> points = TRY(records.curves(job.id, shown_points));
  std::vector<StatusLog> logs;
  for (const Event& each : TRY(records.events(job.id, 0, shown_logs)))
    logs.push_back({each.at, each.message, each.detail});
  return customization_json(job, job.ended_at, {points, logs});
}

}  // namespace run_files_detail

using namespace run_files_detail;

sql::Expected<std::vector<RunFile>> files_of(const Customization& job, const Records& records) {
  std::vector<RunFile> out;
  const CustomizationRequest request = read_stored(job.request);
  out.push_back({"config.json", json::object_text([&](json::Writer& w) {
                   model::write_hyperparameters(w, request.hyperparameters);
                 })});
  out.push_back({"customization.json", TRY(record_of(job, records))});
  out.push_back({"metrics.csv", metrics_csv(TRY(records.curves(job.id, most_points)))});
  std::vector<Event> events = TRY(records.last_events(job.id, true, last_lines));
  for (Event& each : TRY(records.last_events(job.id, false, last_lines))) events.push_back(std::move(each));
  out.push_back({"customization.log", log_text(std::move(events), longest_log)});
  return out;
}

std::string metrics_csv(std::span<const MetricPoint> points) {
  std::string out = "step,train_loss,val_loss,learning_rate,tokens_per_second,epoch,time\n";
  for (const MetricPoint& each : points) {
    out += fmt::format("{}", each.step);
    for (const auto& value : {each.train_loss, each.val_loss, each.learning_rate, each.tokens_per_second, each.epoch})
      append(out, value);
    out += fmt::format(",{}\n", time_of(each.at));
  }
  return out;
}

std::string log_text(std::vector<Event> events, std::size_t most) {
  std::ranges::sort(events, {}, &Event::number);
  std::string out;
  for (const Event& each : events)
    out += each.is_log ? fmt::format("{} [{}] {}\n", time_of(each.at), each.detail, each.message)
                       : fmt::format("{} {}{}{}\n", time_of(each.at), each.message, each.detail.empty() ? "" : ": ",
                                     each.detail);
  if (out.size() > most) out.erase(0, out.find('\n', out.size() - most - 1) + 1);
  return out;
}

}  // namespace stackgate::customizer
