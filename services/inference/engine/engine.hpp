// A model that answers jobs on a thread of its own: what other threads use of services/inference/engine.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "services/inference/engine/batch.hpp"

namespace stackgate::inference {

struct EngineOptions {
  BatchLimits limits{};
  std::size_t max_queue = 256;  // jobs of which nothing has begun
  /// Told of each step's tokens, on the engine's thread. Empty: nobody is.
  std::function<void(std::uint64_t tokens)> stepped{};
};

/// Thread-safe.
class Engine {
 public:
  /// Opens the model, on the engine's thread, which makes all its steps. The error is a sentence.
  using Open = std::function<std::expected<std::unique_ptr<model::Graph>, std::string>()>;

  Engine(const EngineOptions& options, Vocabulary vocabulary, Open open);
  /// Ends after the step under way; jobs that are left fail.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Empty once it answers; else why not yet, or why never. Waits for it while it is being loaded, up to `limit`.
  std::string not_ready(std::chrono::milliseconds limit = {}) const;
  /// Whether the model could not be opened: it never will.
  bool broken() const;

  /// Nothing: the queue is full, or it has stopped. Whatever comes of the job is reported by its events, in any order
  /// with this return.
  std::optional<JobId> submit(Job job);
  /// Nothing more is reported of it, but for what is being reported now. Of an unknown one: nothing.
  void cancel(JobId id);
  /// Its events take progress again.
  void resume(JobId id);
  /// An adapter's version that answers no new requests.
  void forget(std::uint64_t adapter);
  /// Waits for the step under way; then all jobs have failed, and nobody's events are called any more. For one thread,
  /// which is not the engine's: who holds jobs may hold the engine.
  void stop();

  BatchFacts facts() const;

 private:
  struct Submitted {
    JobId id;
    Job job;
  };
  struct Cancelled {
    JobId id;
  };
  struct Resumed {
    JobId id;
  };
  struct Forgotten {
    std::uint64_t adapter;
  };
  using Message = std::variant<Submitted, Cancelled, Resumed, Forgotten>;

  void run();
  void serve(Batch& batch);
  void refuse_all(const JobFailure& failure);
  void post(Message message);
  /// What came since the last call; waits for it for as long as `idle` says.
  std::vector<Message> received(std::chrono::milliseconds idle);

  const EngineOptions options_;
  const Vocabulary vocabulary_;
  const Open open_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  mutable std::condition_variable opened_;
  std::vector<Message> inbox_;
  std::size_t submitted_ = 0;  // in the inbox
  std::string not_ready_ = "the model is being loaded";
  bool loading_ = true, broken_ = false, stopping_ = false;
  JobId next_ = 1;
  BatchFacts facts_{};
  std::jthread thread_;  // last: it uses the others
};

}  // namespace stackgate::inference
