// A run in MLflow's tracking server: parameters once, metrics in batches, files and its status at the end. Whoever logs
// never waits: a thread of its own sends, what waits is bounded, and a server that is away, slow or wrong costs
// metrics, which are counted, and nothing else. Thread-safe.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "services/kit/mlflow/calls.hpp"
#include "services/kit/mlflow/requests.hpp"

namespace stackgate::mlflow {

struct NewRun {
  std::string experiment = "Default", name{};  // the experiment is made where it is not
  std::string id{};                            // of a run to go on with; a new one where it is gone
  std::vector<Pair> tags{}, params{};
};

struct Pace {
  std::chrono::milliseconds call{10'000};                             // the longest that one call takes
  std::chrono::milliseconds between{1'000};                           // batches of metrics
  std::chrono::milliseconds first_pause{500}, longest_pause{30'000};  // after failures
  std::chrono::milliseconds end{5'000};     // the longest that the end waits for what is to be sent
  std::size_t waiting = 10'000;             // metrics; beyond it the oldest are lost
  std::chrono::milliseconds files{30'000};  // the longest that the end of a finished run waits for its files, besides
  std::uint64_t largest_file = 1U << 30U;   // bytes; larger ones are left out
};

struct Counts {
  std::uint64_t sent = 0, lost = 0;  // metrics
  std::uint64_t files_sent = 0, files_lost = 0;
};

/// On the disk at `path`, "adapter/weights" among the run's files.
struct File {
  std::string name, path;
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
  /// To be sent behind the metrics, before its status, of a run that ends as finished. Read as they are sent.
  void attach(std::vector<File> files);
  /// Waits for what is still to be sent, at most Pace::end; for files that the server takes at most Pace::files more.
  Counts end(Status status);

 private:
  class Sending;
  std::unique_ptr<Sending> sending_;
};

/// For Metric::milliseconds.
std::int64_t now_in_milliseconds();

}  // namespace stackgate::mlflow
