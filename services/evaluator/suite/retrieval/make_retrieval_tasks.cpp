#include "services/evaluator/suite/retrieval/make_retrieval_tasks.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/evaluator/suite/retrieval/rag_prompt.hpp"
#include "services/evaluator/suite/retrieval/rag_task.hpp"
#include "services/evaluator/suite/retrieval/retriever_task.hpp"
#include "services/evaluator/suite/task_rows.hpp"

namespace stackgate::evaluator {
namespace {

std::vector<std::string> names_of(const EvaluationRequest& request) {
  if (!request.tasks.empty()) return request.tasks;
  return {std::string(to_string(request.framework))};
}

validate::Finding wrong(std::string path, std::string problem, std::string fix) {
  return {
      .rule = "evaluation-retrieval", .path = std::move(path), .problem = std::move(problem), .fix = std::move(fix)};
}

ChunkSizes sizes_of(const EvaluationRequest& request) {
  return {.size = request.retrieval.chunk_size, .overlap = request.retrieval.chunk_overlap};
}

std::vector<std::uint32_t> cutoffs_of(const EvaluationRequest& request) {
  std::vector<std::uint32_t> out = request.retrieval.cutoffs;
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  std::erase(out, 0U);
  return out;
}

RetrievalData read_data(const EvaluationRequest& request, std::string_view task, const DataSource& data,
                        validate::Findings& findings) {
  const DataSource chosen{.paths = chosen_paths(request.dataset, data.paths), .text = data.text};
  return read_retrieval_data(task, names_of(request).size() == 1, chosen, request.limit.value_or(most_rows), findings);
}

bool wants_search(const RetrievalQuery& query) { return !query.contexts; }

void check_search(const EvaluationRequest& request, std::string_view task, const RetrievalData& data,
                  validate::Findings& findings) {
  if (data.documents.empty())
    findings.push_back(wrong("dataset", fmt::format("has no documents for the task {} to search", task),
                             R"(add corpus.jsonl, or "documents" to the rows)"));
  if (!request.embeddings)
    findings.push_back(wrong("embeddings", "must be there: documents are found by their embeddings",
                             R"(write "embeddings": {"model_endpoint": "http://…/v1", "model": "…"})"));
}

}  // namespace

std::expected<Tasks, validate::Findings> make_retriever_tasks(const EvaluationRequest& request,
                                                              const DataSource& data) {
  Tasks out;
  validate::Findings findings;
  for (const std::string& name : names_of(request)) {
    RetrievalData own = read_data(request, name, data, findings);
    check_search(request, name, own, findings);
    out.push_back(std::make_unique<RetrieverTask>(name, std::move(own.queries), cutoffs_of(request)));
  }
  if (!findings.empty()) return std::unexpected(std::move(findings));
  return out;
}

std::expected<Tasks, validate::Findings> make_rag_tasks(const EvaluationRequest& request, const DataSource& data) {
  Tasks out;
  validate::Findings findings;
  RagTemplates templates;
  const auto parse = [&](std::string_view name, std::string_view source, std::string_view example, auto& into) {
    auto read = RagPrompt::parse(source);
    if (read)
      into = std::move(*read);
    else
      findings.push_back(wrong(fmt::format("params.{}", name), fmt::format("is no template: {}", read.error()),
                               fmt::format("write \"{}\", or leave it out", example)));
  };
  parse("prompt", request.rows.prompt, "{{ context }} {{ question }}", templates.prompt);
  if (!request.rows.response.empty()) parse("response", request.rows.response, "{{ item.answer }}", templates.response);
  if (!request.judge)
    findings.push_back(wrong("judge", "must be there: answers and contexts are judged by a model",
                             R"(write "judge": {"model_endpoint": "http://…/v1", "model": "…"})"));
  EvaluationRequest own_request = request;
  own_request.retrieval.cutoffs = cutoffs_of(request);
  for (const std::string& name : names_of(request)) {
    RetrievalData own = read_data(request, name, data, findings);
    if (std::ranges::any_of(own.queries, wants_search)) check_search(request, name, own, findings);
    if (!findings.empty()) continue;
    std::vector<Passage> passages = passages_of(own.documents, sizes_of(request));
    out.push_back(std::make_unique<RagTask>(name, own_request, templates, std::move(own), std::move(passages)));
  }
  if (!findings.empty()) return std::unexpected(std::move(findings));
  return out;
}

std::expected<RetrievalPlan, validate::Findings> retrieval_plan(const EvaluationRequest& request, std::string_view task,
                                                                const DataSource& data) {
  validate::Findings findings;
  const RetrievalData own = read_data(request, task, data, findings);
  if (!findings.empty()) return std::unexpected(std::move(findings));
  RetrievalPlan out{.answers_documents = request.framework == Framework::retriever, .depth = request.retrieval.top_k};
  for (const std::uint32_t k : request.retrieval.cutoffs) out.depth = std::max(out.depth, k);
  ++out.depth;  // one may be the query itself
  if (!out.answers_documents && std::ranges::none_of(own.queries, wants_search)) return out;
  out.passages = passages_of(own.documents, sizes_of(request));
  for (const Document& each : own.documents) out.names.push_back(each.id);
  return out;
}

}  // namespace stackgate::evaluator
