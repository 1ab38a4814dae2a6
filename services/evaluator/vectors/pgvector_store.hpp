// Vectors in PostgreSQL, by the extension pgvector (0.5 or later). Source: https://github.com/pgvector/pgvector.
#pragma once
#include <memory>
#include <string>

#include "services/evaluator/vectors/vector_store.hpp"
#include "services/kit/sql/database.hpp"

namespace stackgate::evaluator {

/// A table "<table>(id BIGINT, embedding vector(n))" with an HNSW index by cosine; of more than 2,000 dimensions, which
/// pgvector does not index, all are looked at. Made by the first put(). `table`: lower-case letters, digits and '_',
/// not a digit first, at most 48. The extension is created where it may be; where it is missing, or this user may not,
/// the fault says what to do. Thread-safe but for put().
VectorStore pgvector_store(std::shared_ptr<sql::Database> database, const std::string& table);

/// The statements, with the table's name in them; for tests.
struct PgvectorStatements {
  explicit PgvectorStatements(const std::string& table);
  std::string create(std::uint32_t numbers) const;
  std::string put, nearest, count, dimension, index, drop;

 private:
  std::string table_;
};
/// "[0.5,1,-2e-05]": how pgvector reads a vector, shortest digits that give the same float.
std::string pgvector_text(std::span<const float> vector);

}  // namespace stackgate::evaluator
