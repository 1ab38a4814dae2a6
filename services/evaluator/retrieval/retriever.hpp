// What an evaluation searches: its passages embedded once, kept where its settings say, and found by questions.
//
//   passages ─▶ embeddings endpoint ─▶ <digest>.embeddings ─▶ store: memory (<digest>.index), Milvus, pgvector
//                                                              ▲
//   question ─▶ embeddings endpoint ───────────────────────────┘─▶ {"doc7": 0.83, "doc2": 0.71, …}
#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/endpoint/endpoint.hpp"
#include "services/evaluator/engine/asking.hpp"
#include "services/evaluator/retrieval/embed_all.hpp"
#include "services/evaluator/suite/retrieval/make_retrieval_tasks.hpp"
#include "services/evaluator/vectors/vector_store.hpp"

namespace stackgate::evaluator {

/// The database of RetrievalSettings::Index::vector_db. `url`: http(s) is Milvus, postgresql:// is pgvector; empty:
/// there is none.
struct VectorDatabase {
  std::string url{};
  std::string token{};  // Milvus: "user:password"; pgvector: the password
  std::string ca_file{};
};

struct RetrieverOptions {
  RetrievalSettings::Index index = RetrievalSettings::Index::exact;
  VectorDatabase database{};
  std::string directory{};                                  // of this service's files; must exist
  std::uint64_t directory_bytes = std::uint64_t{8} << 30U;  // the oldest files beyond that are removed
  EmbedOptions embedding{};
  /// Called before a collection of the database is made or filled, with its name; an error stops it.
  std::function<std::expected<void, NoAnswer>(const std::string& collection)> uses{};
};

struct RetrieverProgress {
  std::function<void(std::uint64_t embedded, std::uint64_t passages)> embedded{};  // on the caller's thread
  std::function<bool()> stop{};
};

/// Ready to be asked, by any number of threads.
class Retriever {
 public:
  /// Blocks until everything is embedded and indexed: nothing twice, also after a restart, as long as passages, model,
  /// endpoint and kind of index are the same. `embeddings` must outlive it.
  static std::expected<std::unique_ptr<Retriever>, NoAnswer> open(const RetrievalPlan& plan, const Endpoint& embeddings,
                                                                  const RetrieverOptions& options,
                                                                  const RetrieverProgress& progress);

  /// Of Whom::retriever; this must outlive it.
  Answerer answerer() const;

 private:
  Retriever(const RetrievalPlan& plan, const Endpoint& embeddings);
  std::expected<Answer, NoAnswer> ask(const Question& question) const;

  std::vector<std::string> names_{};      // what is answered with
  std::vector<std::uint32_t> name_of_{};  // of each passage
  std::uint32_t depth_;
  const Endpoint& embeddings_;
  std::string digest_{};
  VectorStore store_{};
};

/// Of Whom::embedder. `embeddings` must outlive it.
Answerer embedder(const Endpoint& embeddings);

/// A collection of the database that nobody uses any more.
std::expected<void, StoreFault> drop_collection(const VectorDatabase& database, const std::string& collection);

/// What is the same for two evaluations exactly when their vectors may be shared.
std::string digest_of(const RetrievalPlan& plan, std::string_view endpoint, std::string_view model);

}  // namespace stackgate::evaluator
