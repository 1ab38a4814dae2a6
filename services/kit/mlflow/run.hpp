// A run in MLflow's tracking server: parameters once, metrics in batches, its status at the end. Whoever logs never
// waits: a thread of its own sends, what waits is bounded, and a server that is away, slow or wrong costs metrics,
// which are counted, and nothing else. Thread-safe.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "services/kit/mlflow/requests.hpp"

namespace stackgate::mlflow {

struct Server {
  std::string url{};               // "https://mlflow:5000"; what is behind it stays
  std::string token{};             // as a bearer; or
  std::string user{}, password{};  // by Basic
  std::string ca_file{};
};

/// Of the header Authorization; "": none.
std::string authorization(const Server& server);

struct NewRun {
  std::string experiment = "Default", name{};  // the experiment is made where it is not
  std::string id{};                            // of a run to go on with; a new one where it is gone
  std::vector<Pair> tags{}, params{};
};

struct Pace {
  std::chrono::milliseconds call{10'000};                             // the longest that one call takes
  std::chrono::milliseconds between{1'000};                           // batches of metrics
  std::chrono::milliseconds first_pause{500}, longest_pause{30'000};  // after failures
  std::chrono::milliseconds end{5'000};  // the longest that the end waits for what is to be sent
  std::size_t waiting = 10'000;          // metrics; beyond it the oldest are lost
};

struct Counts {
  std::uint64_t sent = 0, lost = 0;  // metrics
};

class Run {
 public:
  /// `known` is told the run's id once there is one, on the run's thread.
  Run(Server server, NewRun run, std::function<void(const std::string& id)> known, Pace pace = {});
  /// end(Status::failed), if there was none.
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void log(std::vector<Metric> metrics);
  /// Waits for what is still to be sent, at most Pace::end.
  Counts end(Status status);

 private:
  class Sending;
  std::unique_ptr<Sending> sending_;
};

/// For Metric::milliseconds.
std::int64_t now_in_milliseconds();

}  // namespace stackgate::mlflow
