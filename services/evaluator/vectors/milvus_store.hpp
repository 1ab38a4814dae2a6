// Vectors in Milvus, by its REST API v2. Source: see protocol/milvus.hpp.
#pragma once
#include <chrono>
#include <functional>
#include <string>

#include "services/evaluator/vectors/vector_store.hpp"

namespace stackgate::evaluator {

struct MilvusOptions {
  std::string url{};    // "http://milvus:19530", without a path
  std::string token{};  // "user:password", or an API key; empty: none is sent. Never in a message
  std::string ca_file{};
  std::chrono::seconds timeout{60};  // for one answer
  unsigned retries = 3;              // for what may pass
  std::function<bool()> stop{};      // asked a few times a second while a call is under way
};

/// `collection`: letters, digits and '_', not a digit first. It is made by the first put(), and is not dropped when the
/// store goes. Thread-safe but for put().
VectorStore milvus_store(MilvusOptions options, std::string collection);

}  // namespace stackgate::evaluator
