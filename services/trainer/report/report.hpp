// Tells how far a run is: a JSON object a line on standard output, a bar on a terminal, and the same objects to a
// progress URL. Nothing here delays a step or ends a run. For one thread.
#pragma once
#include <memory>
#include <string>

#include "services/trainer/report/events.hpp"

namespace stackgate::trainer {

struct ReportSettings {
  std::string job{};           // "job_id" of all objects
  std::string url{}, token{};  // empty: nobody else is told
  std::string ca_file{};
};

class Report {
 public:
  explicit Report(ReportSettings settings);
  /// Waits some seconds for what is still to be sent.
  ~Report();
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  void start(const Started& event);
  void step(const Stepped& event);
  void validation(std::uint64_t step, double loss);
  void checkpoint(std::uint64_t step, const std::string& path);
  void done(const Finished& event);
  void error(const Failed& event);

 private:
  class Poster;
  void tell(std::string text);

  const ReportSettings settings_;
  const bool terminal_;
  bool bar_shown_ = false;
  std::unique_ptr<Poster> poster_;
};

}  // namespace stackgate::trainer
