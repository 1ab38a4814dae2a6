// The tasks of the frameworks "retriever" and "rag", and what their retriever searches. Pure.
#pragma once
#include <expected>
#include <string_view>
#include <vector>

#include "services/evaluator/suite/make_tasks.hpp"
#include "services/evaluator/suite/retrieval/corpus.hpp"

namespace stackgate::evaluator {

/// One for each name of `request.tasks`, or one that is called as the framework. See suite/make_tasks.hpp.
std::expected<Tasks, validate::Findings> make_retriever_tasks(const EvaluationRequest& request, const DataSource& data);
std::expected<Tasks, validate::Findings> make_rag_tasks(const EvaluationRequest& request, const DataSource& data);

/// What is embedded and searched for one of these tasks, by its name.
struct RetrievalPlan {
  std::vector<Passage> passages{};   // none: nothing is searched, all contexts are there
  std::vector<std::string> names{};  // of documents, by Passage::document
  bool answers_documents = false;    // the retriever answers with documents, not with passages
  std::uint32_t depth = 10;          // how many of them
};
std::expected<RetrievalPlan, validate::Findings> retrieval_plan(const EvaluationRequest& request, std::string_view task,
                                                                const DataSource& data);

}  // namespace stackgate::evaluator
