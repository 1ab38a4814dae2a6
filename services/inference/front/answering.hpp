// One request while it is answered: progress of its sequences in, a body or a stream out. Functions of the engine's
// thread and of the I/O thread; neither blocks.
#pragma once
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "services/inference/api/answer.hpp"
#include "services/inference/engine/job.hpp"
#include "services/inference/front/front.hpp"
#include "services/kit/web/deferred.hpp"

namespace stackgate::inference {

/// What an answer is made from, besides what the engine says.
struct AnswerFacts {
  std::string id, model;  // as the request named it
  std::uint32_t n = 1, best_of = 1;
  bool stream = false, include_usage = false;
  std::uint64_t prompt_tokens = 0;
};

class Answering : public std::enable_shared_from_this<Answering> {
 public:
  Answering(std::shared_ptr<const Front> front, std::shared_ptr<web::Deferred> later, AnswerFacts facts);
  virtual ~Answering() = default;
  Answering(const Answering&) = delete;
  Answering& operator=(const Answering&) = delete;

  /// Waits for the adapter, if `adapter` names one, and gives the job to the engine. `job` has no events yet.
  void begin(Job job, const std::string& adapter);

 protected:
  struct Choice {
    std::string text;
    std::vector<PositionLogProbs> log_probs, prompt_log_probs;
    std::optional<Finish> finish;
    std::vector<float> embedding;
    double log_prob = 0;
    std::uint32_t tokens = 0;
    bool begun = false;  // its first progress has come
  };

  /// Events for what came of choices()[progress.sequence], which is not yet added to it. Only for streams.
  virtual std::string events(const Progress& progress) = 0;
  /// Behind the last choice.
  virtual std::string last_events(const Usage& usage) = 0;
  virtual std::string whole(const Usage& usage) = 0;

  AnswerHead head() const { return {.id = facts_.id, .created = created_, .model = facts_.model}; }
  ChunkUsage chunk_usage() const { return {.asked = facts_.include_usage}; }
  const AnswerFacts& facts() const { return facts_; }
  const Front& front() const { return *front_; }
  std::vector<Choice>& choices() { return choices_; }
  /// Of each prompt the n best of its best_of, likeliest first; choices() in their order when all are wanted.
  std::vector<const Choice*> chosen() const;

 private:
  void submit(Job job, AdapterUse adapter);
  bool progress(Progress&& progress);
  void failed(JobFailure&& failure);
  void record(std::string_view outcome);

  const std::shared_ptr<const Front> front_;
  const std::shared_ptr<web::Deferred> later_;
  const AnswerFacts facts_;
  const std::int64_t created_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::optional<std::chrono::steady_clock::time_point> begun_{}, first_token_{};  // the first of all choices'
  std::vector<Choice> choices_;
  std::size_t finished_ = 0;
  bool started_ = false;
  std::uint32_t cached_ = 0;

  std::mutex mutex_;  // of these
  std::optional<JobId> job_;
  bool recorded_ = false;
};

}  // namespace stackgate::inference
