// Experiment trackers that are sent how customizations fare, by a thread of its own. Nothing waits for them: what is to
// be sent lies in the database, and one that is away, slow or wrong costs a warning among the customization's events.
#pragma once
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/customizer/records/records.hpp"
#include "services/customizer/trackers/tracker.hpp"
#include "services/kit/run/periodic.hpp"

namespace stackgate::customizer {

struct TrackersOptions {
  std::chrono::milliseconds round{1'000};
  Seconds between = 2;                          // what is sent of one
  Seconds first_pause = 2, longest_pause = 60;  // of one that is away
  Seconds give_up = 24 * 3600;                  // after so long without an answer
};

class Trackers {
 public:
  /// `records` must outlive it.
  Trackers(Records& records, std::vector<std::unique_ptr<Tracker>> trackers, TrackersOptions options = {})
      : records_(records), trackers_(std::move(trackers)), options_(options) {}
  /// Once; without trackers there is nothing to start.
  void start();
  /// Tests: a round on the caller's thread, of one that was not started.
  std::chrono::milliseconds round(const std::stop_token& stop = {});

 private:
  Tracker* find(std::string_view key) const;
  void send(Tracking& tracking, Tracker& tracker, Seconds now);
  void end(const Tracking& tracking, const Tracker& tracker, const Customization& job, const Sent& sent);
  void note_away(const Tracker& tracker, const std::string& words);

  Records& records_;
  const std::vector<std::unique_ptr<Tracker>> trackers_;
  const TrackersOptions options_;
  std::map<std::string, std::string, std::less<>> away_{};  // by key, with why: logged, and not asked again in a round
  std::map<std::string, bool, std::less<>> warned_{};
  std::optional<run::Periodic> rounds_{};  // last: its thread uses the others
};

}  // namespace stackgate::customizer
