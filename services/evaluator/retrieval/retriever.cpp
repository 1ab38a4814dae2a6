#include "services/evaluator/retrieval/retriever.hpp"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "services/evaluator/retrieval/directory_room.hpp"
#include "services/evaluator/retrieval/embedding_log.hpp"
#include "services/evaluator/suite/retrieval/ranked.hpp"
#include "services/evaluator/vectors/milvus_store.hpp"
#include "services/evaluator/vectors/pgvector_store.hpp"
#include "services/evaluator/vectors/vector_math.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace {

using Kind = NoAnswer::Kind;

std::unexpected<NoAnswer> failed(Kind kind, std::string message) {
  return std::unexpected(NoAnswer{kind, std::move(message)});
}

NoAnswer to_no_answer(StoreFault fault) { return {fault.away ? Kind::away : Kind::broken, std::move(fault.message)}; }

template <class T>
std::expected<T, NoAnswer> checked(VectorStore::Expected<T> result) {
  if (!result) return std::unexpected(to_no_answer(std::move(result.error())));
  if constexpr (std::is_void_v<T>)
    return {};
  else
    return std::move(*result);
}

std::expected<VectorStore, std::string> database_store(const VectorDatabase& database, const std::string& collection,
                                                       const std::function<bool()>& stop) {
  const std::string& url = database.url;
  if (url.starts_with("http://") || url.starts_with("https://"))
    return milvus_store({.url = url, .token = database.token, .ca_file = database.ca_file, .stop = stop}, collection);
  if (!url.starts_with("postgresql://"))
    return std::unexpected("this service has no vector database; use the index \"exact\" or \"hnsw\"");
  auto opened = sql::Database::open(url, database.token);
  if (!opened) return std::unexpected(std::move(opened.error()));
  return pgvector_store(std::move(*opened), collection);
}

std::expected<VectorStore, NoAnswer> store_for(const RetrieverOptions& options, const std::string& digest,
                                               std::size_t passages, const std::function<bool()>& stop) {
  using Index = RetrievalSettings::Index;
  if (options.index != Index::vector_db) {
    const bool is_exact = options.index == Index::exact;
    return embedded_store(fmt::format("{}/{}.{}", options.directory, digest, is_exact ? "exact" : "hnsw"),
                          is_exact ? IndexShape::Kind::exact : IndexShape::Kind::hnsw, passages);
  }
  const std::string name = "stackgate_" + digest.substr(0, 32);
  if (options.uses) TRY(options.uses(name));
  auto out = database_store(options.database, name, stop);
  if (!out) return failed(Kind::refused, std::move(out.error()));
  return *std::move(out);
}

/// What is there is put into the store; then what is missing is embedded.
class Filling {
 public:
  Filling(const RetrievalPlan& plan, const Endpoint& embeddings, VectorStore& store, const EmbedOptions& options,
          const RetrieverProgress& progress)
      : plan_(plan), embeddings_(embeddings), store_(store), options_(options), progress_(progress) {}

  std::expected<void, NoAnswer> run(EmbeddingLog& log) {
    if (log.size() > plan_.passages.size()) return failed(Kind::broken, "the log of embeddings has too many of them");
    const std::size_t there = log.size();
    std::expected<void, NoAnswer> put{};
    const auto read = log.read([&](std::uint64_t first, std::span<const float> vectors) {
      put = checked(store_.put(first, log.dimension(), vectors));
      return put && !(progress_.stop && progress_.stop());
    });
    if (!read) return failed(Kind::broken, read.error());
    if (!put) return put;
    report(there);
    return embed_all(
        embeddings_, plan_.passages.size() - there,
        [&](std::size_t number) -> std::string_view { return plan_.passages[there + number].text; }, options_,
        [&](std::size_t first, const Embeddings& vectors) -> std::expected<void, NoAnswer> {
          // Kept before it is put where a crash would lose it.
          if (auto kept = log.append(vectors.dimension, vectors.values); !kept)
            return failed(Kind::broken, std::move(kept.error()));
          TRY(checked(store_.put(there + first, vectors.dimension, vectors.values)));
          report(there + first + vectors.values.size() / vectors.dimension);
          return {};
        },
        progress_.stop);
  }

 private:
  void report(std::uint64_t embedded) const {
    if (progress_.embedded) progress_.embedded(embedded, plan_.passages.size());
  }
  const RetrievalPlan& plan_;
  const Endpoint& embeddings_;
  VectorStore& store_;
  const EmbedOptions& options_;
  const RetrieverProgress& progress_;
};

}  // namespace

std::expected<void, StoreFault> drop_collection(const VectorDatabase& database, const std::string& collection) {
  const auto store = database_store(database, collection, {});
  if (!store) return std::unexpected(StoreFault{.message = store.error()});
  return store->drop();
}

std::string digest_of(const RetrievalPlan& plan, std::string_view endpoint, std::string_view model) {
  crypto::Sha256Stream hash;
  const auto add = [&](std::string_view text) { hash.add(fmt::format("{}:{}\n", text.size(), text)); };
  add(endpoint);
  add(model);
  for (const Passage& each : plan.passages) {
    add(each.id);
    add(each.text);
  }
  return crypto::to_hex(hash.finish());
}

Retriever::Retriever(const RetrievalPlan& plan, const Endpoint& embeddings)
    : depth_(plan.depth), embeddings_(embeddings) {
  if (plan.answers_documents) names_ = plan.names;
  for (const Passage& each : plan.passages) {
    name_of_.push_back(plan.answers_documents ? each.document : static_cast<std::uint32_t>(names_.size()));
    if (!plan.answers_documents) names_.push_back(each.id);
  }
}

std::expected<std::unique_ptr<Retriever>, NoAnswer> Retriever::open(const RetrievalPlan& plan,
                                                                    const Endpoint& embeddings,
                                                                    const RetrieverOptions& options,
                                                                    const RetrieverProgress& progress) {
  if (plan.passages.empty()) return failed(Kind::refused, "the data set has no documents to search");
  std::unique_ptr<Retriever> out(new Retriever(plan, embeddings));
  out->digest_ = digest_of(plan, embeddings.origin(), embeddings.model());
  out->store_ = TRY(store_for(options, out->digest_, plan.passages.size(), progress.stop));
  make_room(options.directory, options.directory_bytes, out->digest_);
  // Held while the store is looked at and filled, so that two evaluations do not fill it both.
  auto log = EmbeddingLog::open(fmt::format("{}/{}.embeddings", options.directory, out->digest_), progress.stop);
  if (progress.stop && progress.stop()) return failed(Kind::stopped, "stopped");
  if (!log) return failed(Kind::broken, std::move(log.error()));
  if (TRY(checked(out->store_.count())) == plan.passages.size()) {
    for (const char* end : {"exact", "hnsw"}) mark_used(fmt::format("{}/{}.{}", options.directory, out->digest_, end));
    if (progress.embedded) progress.embedded(plan.passages.size(), plan.passages.size());
  } else {
    TRY(Filling(plan, embeddings, out->store_, options.embedding, progress).run(*log));
    TRY(checked(out->store_.finish()));
  }
  log->remove();
  return out;
}

std::expected<Answer, NoAnswer> Retriever::ask(const Question& question) const {
  const std::vector<std::string> texts = {question.prompt};
  const Embeddings query = TRY(embeddings_.embed(texts));
  Ranked ranked;
  // Several passages of one document count as it: more of them are looked at until there are enough documents.
  for (std::uint32_t k = depth_;; k *= 4) {
    const auto found = TRY(checked(store_.nearest(query.values, k)));
    ranked.clear();
    std::unordered_set<std::uint32_t> seen;
    for (const Neighbour& each : found) {
      if (each.number >= name_of_.size())
        return failed(Kind::broken, store_.name + " found a vector that was never put there");
      const std::uint32_t name = name_of_[each.number];
      if (ranked.size() < depth_ && seen.insert(name).second) ranked.emplace_back(names_[name], each.score);
    }
    if (ranked.size() >= depth_ || found.size() < k || k >= name_of_.size()) break;
  }
  return Answer{.text = write_ranked(ranked), .finish_reason = "stop"};
}

Answerer Retriever::answerer() const {
  return {.name = fmt::format("{} {} {}", embeddings_.model(), digest_, depth_),
          .ask = [this](const Question& question) { return ask(question); }};
}

Answerer embedder(const Endpoint& embeddings) {
  return {.name = embeddings.model(),
          .ask = [&embeddings](const Question& question) -> std::expected<Answer, NoAnswer> {
            std::vector<std::string> texts;
            texts.reserve(question.messages.size());
            for (const ChatMessage& each : question.messages) texts.push_back(each.content);
            if (texts.size() < 2 || texts.size() > most_texts)
              return failed(Kind::refused, "an embedder compares one text with others");
            Embeddings vectors = TRY(embeddings.embed(texts));
            std::string out;
            json::Writer w(out);
            std::vector<double> cosines;
            const std::span<float> values(vectors.values);
            for (std::size_t i = 0; i < texts.size(); ++i) {
              const std::span<float> own = values.subspan(i * vectors.dimension, vectors.dimension);
              if (!normalise(own)) return failed(Kind::broken, "a vector of the model of embeddings is too long");
              if (i > 0) cosines.push_back(dot(values.data(), own.data(), own.size()));
            }
            w.array([&] {
              for (const double each : cosines) w.value(each);
            });
            return Answer{.text = std::move(out), .finish_reason = "stop"};
          }};
}

}  // namespace stackgate::evaluator
