// The engine without its thread: jobs in, steps of the graph, progress out.
#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "services/inference/engine/job.hpp"
#include "services/inference/engine/sequence.hpp"
#include "services/inference/schedule/scheduler.hpp"
#include "services/model/graph/graph.hpp"

namespace stackgate::inference {

struct BatchLimits {
  ScheduleLimits schedule{};
  std::size_t pages = 256;
  std::size_t page_tokens = 16;
};

/// What the metrics show; a value of one moment.
struct BatchFacts {
  std::size_t running = 0, waiting = 0;      // sequences
  std::size_t waiting_jobs = 0;              // of which nothing has begun
  double cache_used = 0;                     // 0 to 1
  std::uint64_t steps = 0, step_tokens = 0;  // so far
  std::uint64_t prompt_tokens = 0, reused_tokens = 0, generated_tokens = 0, preempted = 0;
  std::vector<std::string> running_adapters{}, waiting_adapters{};  // of jobs; sorted names
};

/// Belongs to one thread, which is also the graph's.
class Batch {
 public:
  using Clock = std::chrono::steady_clock;

  /// The graph has `limits.pages` pages of `limits.page_tokens`.
  Batch(model::Graph& graph, const BatchLimits& limits, Vocabulary vocabulary);
  ~Batch();

  /// Joins at the next step, or fails at once.
  void add(JobId id, Job job);
  void cancel(JobId id);
  /// After progress() has returned false.
  void resume(JobId id);
  /// All jobs fail with this.
  void fail_all(const JobFailure& failure);
  /// An adapter's version answers no more requests: its pages are of no use. Those in flight go on.
  void forget(std::uint64_t adapter) {
    std::erase_if(roots_, [adapter](const auto& each) { return each.first.first == adapter; });
  }

  bool empty() const { return jobs_.empty(); }
  /// Computes one step and reports what came of it. False: there was nothing to compute.
  bool step(Clock::time_point now);

  BatchFacts facts() const;

 private:
  struct Active;
  struct Place {  // of a sequence
    JobId job = 0;
    std::uint32_t index = 0;
    std::optional<Clock::time_point> begun{}, first_token{};
  };

  void admit();
  bool admit_next(JobId id, Active& job);
  void expire(Clock::time_point now);
  void report(Active& job, Sequence& sequence, const Place& place);
  bool fits(const Job& job) const;
  void drop(std::map<JobId, Active>::iterator job);
  void fail(JobId id, JobFailure failure);
  Beginning root_of(const Job& job);
  std::vector<model::SequenceRows> rows_of(const std::vector<Piece>& pieces, Clock::time_point now);
  void run(const std::vector<Piece>& pieces, Clock::time_point now);

  model::Graph& graph_;
  const BatchLimits limits_;
  const Vocabulary vocabulary_;
  PagePool pool_;
  Scheduler scheduler_;
  Sampler sampler_;
  std::map<JobId, Active> jobs_;  // in the order of arrival
  std::unordered_map<SequenceId, Place> places_;
  std::map<std::pair<std::uint64_t, std::string>, Beginning> roots_;  // by adapter and salt
  SequenceId next_sequence_ = 1;
  BatchFacts facts_{};
};

}  // namespace stackgate::inference
