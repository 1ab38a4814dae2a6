#include "services/evaluator/vectors/pgvector_store.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"

namespace stackgate::evaluator {
namespace {

constexpr std::uint32_t most_indexed = 2000;  // dimensions of a vector that pgvector's HNSW takes
constexpr std::uint32_t rows_at_once = 100;
// A graph over some hundred thousand vectors takes minutes.
constexpr std::chrono::minutes index_limit{60};

StoreFault to_fault(const sql::SqlError& error) {
  const bool away =
      error.fault == sql::Fault::away || error.fault == sql::Fault::busy || error.fault == sql::Fault::conflict;
  return {away, fmt::format("PostgreSQL with pgvector: {}", error.message)};
}

template <class T>
VectorStore::Expected<T> checked(sql::Expected<T> result) {
  if (!result) return std::unexpected(to_fault(result.error()));
  if constexpr (std::is_void_v<T>)
    return {};
  else
    return std::move(*result);
}

class Pgvector {
 public:
  Pgvector(std::shared_ptr<sql::Database> database, const std::string& table)
      : database_(std::move(database)), table_(table), statements_(table) {}

  VectorStore::Expected<std::uint64_t> count() {
    if (TRY(dimension()) == 0) return 0;
    const sql::Result result = TRY(checked(database_->run(statements_.count)));
    return static_cast<std::uint64_t>(result.rows.at(0).integer(0));
  }

  VectorStore::Expected<void> put(std::uint64_t first, std::uint32_t dimension, std::span<const float> vectors) {
    if (dimension == 0 || vectors.size() % dimension != 0)
      return std::unexpected(StoreFault{false, "pgvector: vectors of no dimension"});
    if (!ready_) TRY(prepare(dimension));
    while (!vectors.empty()) {
      const std::size_t rows = std::min<std::size_t>(vectors.size() / dimension, rows_at_once);
      TRY(checked(database_->transact([&](sql::Session& session) -> sql::Expected<void> {
        for (std::size_t i = 0; i < rows; ++i)
          (void)TRY(session.run(statements_.put, {static_cast<std::int64_t>(first + i),
                                                  pgvector_text(vectors.subspan(i * dimension, dimension))}));
        return {};
      })));
      first += rows;
      vectors = vectors.subspan(rows * dimension);
    }
    return {};
  }

  /// An index that is made of all rows at once is better and sooner there than one that grows with them.
  VectorStore::Expected<void> finish() {
    if (TRY(dimension()) > most_indexed) return {};
    return checked(database_->transact([&](sql::Session& session) -> sql::Expected<void> {
      TRY(session.allow(index_limit));
      (void)TRY(session.run(statements_.index));
      return {};
    }));
  }

  VectorStore::Expected<std::vector<Neighbour>> nearest(std::span<const float> query, std::uint32_t k) {
    std::vector<Neighbour> out;
    // Of the walk through the graph, which otherwise gives 40 rows at most.
    const std::string width = fmt::format("SET LOCAL hnsw.ef_search = {}", std::clamp(k, 100U, 1000U));
    TRY(checked(database_->read([&](sql::Session& session) -> sql::Expected<void> {
      (void)TRY(session.run(width));
      const sql::Result result =
          TRY(session.run(statements_.nearest, {pgvector_text(query), static_cast<std::int64_t>(k)}));
      out.clear();
      for (const sql::Row& row : result.rows) out.push_back({static_cast<std::uint64_t>(row.integer(0)), row.real(1)});
      return {};
    })));
    keep_nearest(out, k);
    return out;
  }

  VectorStore::Expected<void> drop() {
    (void)TRY(checked(database_->run(statements_.drop)));
    return {};
  }

 private:
  /// 0: there is no such table.
  VectorStore::Expected<std::uint32_t> dimension() {
    const sql::Result result = TRY(checked(database_->run(statements_.dimension, {table_})));
    return result.rows.empty() ? 0 : static_cast<std::uint32_t>(result.rows[0].integer(0));
  }

  VectorStore::Expected<void> prepare(std::uint32_t dimension) {
    TRY(extension());
    if (const std::uint32_t has = TRY(this->dimension()); has != 0 && has != dimension) TRY(drop());
    (void)TRY(checked(database_->run(statements_.create(dimension))));
    ready_ = true;
    return {};
  }

  VectorStore::Expected<void> extension() {
    const sql::Result type =
        TRY(checked(database_->run("SELECT CASE WHEN to_regtype('vector') IS NULL THEN 0 ELSE 1 END")));
    if (type.rows.at(0).integer(0) != 0) return {};
    const sql::Result there =
        TRY(checked(database_->run("SELECT name FROM pg_available_extensions WHERE name = 'vector'")));
    if (there.rows.empty())
      return std::unexpected(
          StoreFault{false,
                     "this PostgreSQL has no extension \"vector\": install pgvector on its server (the package "
                     "postgresql-<version>-pgvector), or search in memory (index \"exact\" or \"hnsw\")"});
    auto made = database_->run("CREATE EXTENSION IF NOT EXISTS vector");
    if (made) return {};
    StoreFault fault = to_fault(made.error());
    if (!fault.away) fault.message += "; let an administrator say CREATE EXTENSION vector in this database";
    return std::unexpected(std::move(fault));
  }

  const std::shared_ptr<sql::Database> database_;
  const std::string table_;
  const PgvectorStatements statements_;
  bool ready_ = false;
};

}  // namespace

PgvectorStatements::PgvectorStatements(const std::string& table)
    : put(fmt::format("INSERT INTO {} (id, embedding) VALUES ($1, $2::text::vector) "
                      "ON CONFLICT (id) DO UPDATE SET embedding = EXCLUDED.embedding",
                      table)),
      nearest(fmt::format("SELECT id, 1 - (embedding <=> $1::text::vector) FROM {} "
                          "ORDER BY embedding <=> $1::text::vector LIMIT $2",
                          table)),
      count(fmt::format("SELECT count(*) FROM {}", table)),
      // pgvector keeps the dimension as the type's modifier.
      dimension(
          "SELECT a.atttypmod FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid "
          "WHERE c.relname = $1 AND pg_table_is_visible(c.oid) AND a.attname = 'embedding'"),
      index(fmt::format("CREATE INDEX IF NOT EXISTS {0}_hnsw ON {0} USING hnsw (embedding vector_cosine_ops)", table)),
      drop(fmt::format("DROP TABLE IF EXISTS {}", table)),
      table_(table) {}

std::string PgvectorStatements::create(std::uint32_t numbers) const {
  return fmt::format("CREATE TABLE IF NOT EXISTS {} (id BIGINT PRIMARY KEY, embedding vector({}) NOT NULL)", table_,
                     numbers);
}

std::string pgvector_text(std::span<const float> vector) {
  std::string out = "[";
  for (const float each : vector) fmt::format_to(std::back_inserter(out), "{}{}", out.size() > 1 ? "," : "", each);
  return out + "]";
}

VectorStore pgvector_store(std::shared_ptr<sql::Database> database, const std::string& table) {
  auto own = std::make_shared<Pgvector>(std::move(database), table);
  return {.name = "PostgreSQL with pgvector",
          .count = [own] { return own->count(); },
          .put = [own](std::uint64_t first, std::uint32_t dimension,
                       std::span<const float> vectors) { return own->put(first, dimension, vectors); },
          .finish = [own] { return own->finish(); },
          .nearest = [own](std::span<const float> query, std::uint32_t k) { return own->nearest(query, k); },
          .drop = [own] { return own->drop(); }};
}

}  // namespace stackgate::evaluator
