// Who answers the questions of a run: endpoints that are waited for, asked and counted.
#pragma once
#include <atomic>
#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <string>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/endpoint/endpoint.hpp"
#include "services/evaluator/engine/asking.hpp"
#include "services/evaluator/runs/journal.hpp"
#include "services/evaluator/runs/metrics.hpp"
#include "services/evaluator/sandbox/sandbox.hpp"

namespace stackgate::evaluator {

struct Waiting {
  std::chrono::milliseconds patience, pause;
};

/// The endpoints of a request, and what else answers. Thread-safe once prepare() has returned.
class RunAnswerers {
 public:
  /// `authorities` of the endpoints, besides the system's.
  RunAnswerers(const EvaluationRequest& request, http_client::Pem authorities, std::function<bool()> stop,
               RunMetrics& metrics);

  /// Waits until they are there. The model must come; a judge or an embedder that does not costs the answers that it
  /// would have given. `likelihoods`: the model must give log-probabilities of given texts. The error is why the
  /// evaluation fails, "" when it was stopped.
  std::expected<void, std::string> prepare(RunJournal& journal, bool likelihoods, const Waiting& model,
                                           const Waiting& others);

  const Answerers& all() const { return all_; }
  /// Of embeddings; nullptr: none is asked for.
  const Endpoint* embeddings() const { return endpoints_.at(static_cast<std::size_t>(Whom::embedder)).get(); }

  /// What it answers is counted.
  Answerer counted(Whom whom, Answerer answerer);

 private:
  void add(Whom whom, const std::optional<ModelEndpoint>& endpoint);
  /// One that was away for all of its patience is asked once for each sample, and not waited for, until it answers.
  void lose_patience(Whom whom, NoAnswer& answer);
  Answerer programs();

  const EvaluationRequest& request_;
  const http_client::Pem authorities_;
  const std::function<bool()> stop_;
  RunMetrics& metrics_;
  std::array<std::unique_ptr<Endpoint>, whom_count> endpoints_{};  // by Whom; null: nobody
  std::unique_ptr<Sandbox> sandbox_{};                             // where programs are run
  Answerers all_{};
  std::chrono::steady_clock::duration patience_{};                  // with one that went away
  std::array<std::atomic<std::int64_t>, whom_count> away_since_{};  // of the steady clock; 0: it answered last
};

}  // namespace stackgate::evaluator
