// Retrieve, answer, judge. Pure. Source of the measures: see judge.hpp.
//
//   retriever ─▶ contexts ─▶ model ─▶ response ─▶ judge: statements ───────────────▶ judge: each supported?
//   faithfulness (or the row's)           (or the row's)       judge: questions it answers ─────▶ embedder: cosines
//   answer_relevancy
//                                                 judge: each context useful? context_precision judge: each sentence of
//                                                 the reference supported?           context_recall
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/suite/retrieval/corpus.hpp"
#include "services/evaluator/suite/retrieval/rag_prompt.hpp"
#include "services/evaluator/suite/task.hpp"

namespace stackgate::evaluator {

/// `response`: of answers that are in the data set already; without it and without the row's own, the model is asked.
struct RagTemplates {
  RagPrompt prompt{};
  std::optional<RagPrompt> response{};
};

/// Without contexts or without a response a sample has failed. A judge or an embedder that does not answer, or badly,
/// costs that one score: it is none, and the record says why. Usefulness is judged against the reference, where there
/// is one, else against the response. Ranking scores are there when some row says what is relevant.
class RagTask final : public Task {
 public:
  RagTask(std::string name, const EvaluationRequest& request, RagTemplates templates, RetrievalData data,
          std::vector<Passage> passages);

  const std::string& name() const override { return name_; }
  std::size_t samples() const override { return data_.queries.size(); }
  std::vector<Asked> next(std::size_t sample, std::span<const Reply> replies) const override;
  Scored score(std::size_t sample, std::span<const Reply> replies) const override;
  TaskResult result(std::span<const std::vector<double>> values, std::uint64_t failed) const override;

 private:
  struct Walk;
  void walk(Walk& walk) const;
  bool find_contexts(Walk& walk) const;
  bool find_response(Walk& walk) const;
  void judge(Walk& walk) const;
  std::string record_of(const Walk& walk) const;

  std::string name_;
  EvaluationRequest request_;
  RagTemplates templates_;
  RetrievalData data_;
  std::vector<Passage> passages_;
  std::unordered_map<std::string_view, std::uint32_t> passage_numbers_{};  // by id
  std::vector<std::uint32_t> cutoffs_{};                                   // none: no ranking
  bool has_references_ = false, has_embedder_ = false;
  std::vector<std::string> names_{};  // of the columns
};

}  // namespace stackgate::evaluator
