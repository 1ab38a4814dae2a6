// What the dialog looks up by likeness: examples of intents, flows, bot messages, chunks of the knowledge base. By the
// configuration's model of type `embeddings`, or by hashed parts of words where it has none.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "services/guardrail/actions/job.hpp"
#include "services/guardrail/retrieval/vector_index.hpp"

namespace stackgate::guardrail {

enum class Searched : std::uint8_t { examples, flows, bot_messages, chunks, topics };

/// Texts that are compared with a query, each with what is shown of it, and a number of the caller's.
struct SearchEntry {
  std::string text, shown;
  std::uint32_t group = 0;  // of examples: index of the intent; of topics: 0 allowed, 1 denied
};
/// Pure.
std::vector<SearchEntry> search_entries(const Configuration& configuration, Searched what);

struct SearchIndex {
  std::vector<SearchEntry> entries;
  VectorIndex vectors;
};
using SearchIndexPtr = std::shared_ptr<const SearchIndex>;

/// Of each configuration that lives, made when it is first asked for. Thread-safe.
class SearchIndexes {
 public:
  SearchIndexPtr find(const ConfigurationPtr& configuration, Searched what) const;
  void keep(const ConfigurationPtr& configuration, Searched what, SearchIndexPtr index);

 private:
  struct Kept {
    std::weak_ptr<const Configuration> configuration;
    SearchIndexPtr index;
  };
  mutable std::mutex mutex_;
  std::map<std::pair<const Configuration*, Searched>, Kept> kept_;
};

/// The nearest entries of a query; ends the job when the embedding model fails.
using OnNearest = std::move_only_function<void(const SearchIndex& index, const std::vector<Nearest>& nearest)>;
void search(const JobPtr& job, Searched what, std::string query, std::size_t most, OnNearest then);

}  // namespace stackgate::guardrail
