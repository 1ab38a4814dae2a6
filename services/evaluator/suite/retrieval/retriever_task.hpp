// Searching judged as trec_eval judges it: each query is put to the retriever, whose order is held against the qrels.
// Pure.
#pragma once
#include "services/evaluator/suite/retrieval/corpus.hpp"
#include "services/evaluator/suite/task.hpp"

namespace stackgate::evaluator {

/// Of what is asked and computed, in results: scores of different ones are not compared.
inline constexpr std::string_view retrieval_version = "1";

/// Queries without a relevant document are not asked; their scores are none, and counted as such. A document with the
/// query's own id is not counted, as BEIR has it.
class RetrieverTask final : public Task {
 public:
  RetrieverTask(std::string name, std::vector<RetrievalQuery> queries, std::vector<std::uint32_t> cutoffs);

  const std::string& name() const override { return name_; }
  std::size_t samples() const override { return queries_.size(); }
  std::vector<Asked> next(std::size_t sample, std::span<const Reply> replies) const override;
  Scored score(std::size_t sample, std::span<const Reply> replies) const override;
  TaskResult result(std::span<const std::vector<double>> values, std::uint64_t failed) const override;

 private:
  std::string name_;
  std::vector<RetrievalQuery> queries_;
  std::vector<std::uint32_t> cutoffs_;
};

/// Whether a gain of it is above 0.
bool has_relevant(const RetrievalQuery& query);
/// What is asked of the retriever.
Asked ask_retriever(const RetrievalQuery& query);

}  // namespace stackgate::evaluator
