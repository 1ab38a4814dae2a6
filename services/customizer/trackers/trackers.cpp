#include "services/customizer/trackers/trackers.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/customizer/api/show.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::customizer {
namespace trackers_detail {

constexpr std::int64_t at_once = 50;
constexpr std::chrono::seconds lease{120};

}  // namespace trackers_detail

using namespace trackers_detail;

void Trackers::start() {
  if (!trackers_.empty())
    rounds_.emplace(std::chrono::milliseconds(0), [this](const std::stop_token& stop) { return round(stop); });
}

Tracker* Trackers::find(std::string_view key) const {
  const auto found = std::ranges::find_if(trackers_, [&](const auto& each) { return each->key() == key; });
  return found == trackers_.end() ? nullptr : found->get();
}

std::chrono::milliseconds Trackers::round(const std::stop_token& stop) {
  away_.clear();
  const auto now = records_.now();
  auto taken = records_.take_trackings(lease, at_once);
  if (!now || !taken) return options_.round;
  for (Tracking& each : *taken) {
    if (stop.stop_requested()) break;
    // Of a tracker that was set once: it may come back.
    if (Tracker* const tracker = find(each.tracker))
      send(each, *tracker, *now);
    else
      (void)records_.store_tracking(each, options_.longest_pause);
  }
  return std::ssize(*taken) == at_once ? std::chrono::milliseconds(0) : options_.round;
}

void Trackers::send(Tracking& tracking, Tracker& tracker, Seconds now) {
  const auto stored = records_.find(tracking.customization);
  if (!stored || !*stored) return;  // it was deleted, and its rows with it
  const Customization& job = (*stored)->job;
  // Who did not answer a moment ago would keep the others waiting.
  const auto away = away_.find(tracker.key());
  const Sent sent = away != away_.end() ? Sent{Sent::Kind::away, away->second} : tracker.send(tracking, job, records_);
  switch (sent.kind) {
    case Sent::Kind::going_on:
      if (warned_.erase(std::string(tracker.key())) > 0)
        log::info("a tracker takes what it is sent again", {{"tracker", tracker.name()}});
      tracking.failing_since = 0;
      (void)records_.store_tracking(tracking, options_.between);
      return;
    case Sent::Kind::over:
    case Sent::Kind::refused:
      return end(tracking, tracker, job, sent);
    case Sent::Kind::away:
      note_away(tracker, sent.words);
      break;
    case Sent::Kind::later:
      break;
  }
  if (tracking.failing_since == 0) tracking.failing_since = now;
  const Seconds failing = now - tracking.failing_since;
  if (failing >= options_.give_up) return end(tracking, tracker, job, sent);
  (void)records_.store_tracking(tracking, std::clamp(failing / 2, options_.first_pause, options_.longest_pause));
}

void Trackers::end(const Tracking& tracking, const Tracker& tracker, const Customization& job, const Sent& sent) {
  if (sent.kind != Sent::Kind::over) {
    log::warning("a tracker does not record a customization to its end",
                 {{"tracker", tracker.name()}, {"customization", job.name}, {"cause", sent.words}});
    const std::string warnings =
        warnings_json({{.rule = "customization-tracker",
                        .severity = validate::Severity::warning,
                        .path = "integrations",
                        .problem = fmt::format("is not recorded by {} to its end: {}", tracker.name(), sent.words),
                        .fix = "nothing: the customization goes on without it"}});
    (void)records_.add_warning(job.id, {"TrackerGaveUp", fmt::format("{}: {}", tracker.name(), sent.words)},
                               std::string_view(warnings).substr(1, warnings.size() - 2));
  }
  // What has failed may be tried again.
  (void)records_.end_tracking(tracking, !is_final(job.state) || job.state == State::failed);
}

/// Once, until it works again.
void Trackers::note_away(const Tracker& tracker, const std::string& words) {
  const std::string key(tracker.key());
  away_.insert_or_assign(key, words);
  if (warned_.emplace(key, true).second)
    log::warning("a tracker cannot be reached; customizations go on", {{"tracker", tracker.name()}, {"cause", words}});
}

}  // namespace stackgate::customizer
