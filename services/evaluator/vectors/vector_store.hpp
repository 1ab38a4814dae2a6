// Where a set of numbered vectors is kept and searched: in this process, in Milvus, or in PostgreSQL with pgvector. A
// value; what is behind it is shared by its copies.
//
//   count() ─ all there? ─ yes ─▶ nearest(), from any number of threads
//                        └ no ──▶ put() from the first to the last, one thread ─▶ finish() ─▶ nearest()
#pragma once
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "services/evaluator/vectors/embedded_index.hpp"

namespace stackgate::evaluator {

/// The sentence names the database and its words, and no password.
struct StoreFault {
  bool away = false;  // later it may do it
  std::string message{};
};

struct VectorStore {
  template <class T>
  using Expected = std::expected<T, StoreFault>;

  std::string name{};  // "in memory", "Milvus at http://milvus:19530"
  /// How many vectors are there, ready to be searched; 0 for what cannot be used any more.
  std::function<Expected<std::uint64_t>()> count{};
  /// Vectors from number `first` on, one behind the other. The same number again is the same vector again.
  std::function<Expected<void>(std::uint64_t first, std::uint32_t dimension, std::span<const float> vectors)> put{};
  std::function<Expected<void>()> finish{};
  /// By cosine, the nearest first.
  std::function<Expected<std::vector<Neighbour>>(std::span<const float> query, std::uint32_t k)> nearest{};
  /// All of it, and that it ever was.
  std::function<Expected<void>()> drop{};
};

/// In this process; the file is read by count() and written by finish(). `capacity`: how many there will be.
VectorStore embedded_store(std::string path, IndexShape::Kind kind, std::size_t capacity);

}  // namespace stackgate::evaluator
