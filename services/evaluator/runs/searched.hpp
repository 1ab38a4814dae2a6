// What a task of retriever or RAG searches: made ready before its first question.
#pragma once
#include <expected>
#include <memory>
#include <string>

#include "services/evaluator/engine/asking.hpp"
#include "services/evaluator/retrieval/retriever.hpp"
#include "services/evaluator/runs/answerers.hpp"
#include "services/evaluator/runs/native.hpp"
#include "services/evaluator/suite/data_source.hpp"

namespace stackgate::evaluator {

/// Of one task. What it is given must outlive it.
class Searched {
 public:
  Searched(const Task& task, RunContext& context, const DataSource& data, RunAnswerers& answerers)
      : task_(task), context_(context), data_(data), answerers_(answerers), all_(answerers.all()) {}

  /// Embeds and indexes its documents, if its framework searches some; waits for what is away. The error is why the
  /// evaluation fails, "" when it was stopped.
  std::expected<void, std::string> open();
  /// With the retriever.
  const Answerers& answerers() const { return all_; }

 private:
  std::expected<void, std::string> open(const RetrievalPlan& plan);

  const Task& task_;
  RunContext& context_;
  const DataSource& data_;
  RunAnswerers& answerers_;
  Answerers all_;
  std::unique_ptr<Retriever> retriever_{};
};

}  // namespace stackgate::evaluator
