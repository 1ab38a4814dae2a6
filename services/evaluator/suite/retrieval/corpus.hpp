// Documents, questions and what is relevant to them, read of a data set. Pure.
//
// BEIR's files: "corpus.jsonl" {"_id","title","text"}, "queries.jsonl" {"_id","text"}, "qrels/<split>.tsv" with a line
// of headers and "<query>\t<document>\t<gain>" (trec_eval's four columns are read as well). A task takes the split of
// its name, else "test", else the only one. Source: https://github.com/beir-cellar/beir/wiki/Load-your-custom-dataset.
//
// Or rows, of the file with the task's name or of all files:
//   question   "question", "user_input" or "query"
//   documents  "documents": [{"_id" or "id", "title", "text"} or a text, …], all rows' together are searched
//   relevant   "relevant": [<id>, …] or {<id>: <gain>, …}; a number counts this row's documents from 0
//   reference  "reference" or "ground_truth": a text, or a list whose first is taken
//   contexts   "contexts" or "retrieved_contexts": [<text>, …]: what was retrieved already; nothing is searched
//   response   "response" or "answer": what was answered already; no model is asked
#pragma once
#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/suite/data_source.hpp"
#include "services/evaluator/suite/retrieval/chunks.hpp"
#include "services/kit/findings/finding.hpp"

namespace stackgate::evaluator {

struct Document {
  std::string id{};
  std::string text{};  // title and text, as both are searched
};

/// Fields that are not there are empty.
struct RetrievalQuery {
  std::string id{};
  std::string question{};
  std::map<std::string, double> relevant{};  // document to gain
  std::string reference{};
  std::optional<std::vector<std::string>> contexts{};
  std::optional<std::string> response{};
  std::string row{};  // as it was written, for templates
};

struct RetrievalData {
  std::vector<Document> documents{};
  std::vector<RetrievalQuery> queries{};
};

/// Of one task. `is_only_task`: files need not have its name. `limit`: of queries. Faults are left in `findings`, those
/// of each file's first 20 rows that have some. A gain for a document or a query that there is not is no fault: of
/// beginnings of files some are missing. Queries that the qrels do not name come last.
RetrievalData read_retrieval_data(std::string_view task, bool is_only_task, const DataSource& data, std::size_t limit,
                                  validate::Findings& findings);

/// What is embedded and found: a document, or a piece of one.
struct Passage {
  std::string id{};            // "doc7", or "doc7#3": the fourth piece
  std::uint32_t document = 0;  // index
  std::string text{};
};
std::vector<Passage> passages_of(const std::vector<Document>& documents, ChunkSizes sizes);

}  // namespace stackgate::evaluator
