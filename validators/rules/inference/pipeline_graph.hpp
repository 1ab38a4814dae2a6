// The services of a pipeline and who needs whom.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "validators/field.hpp"

namespace stackgate::validate {

struct PipelineEntry {
  Field field;  // spec.services[i]
  std::string_view name;
  bool enabled = true;
};

struct PipelineCycle {
  Field at;           // the dependency that closes it
  std::string route;  // "a -> b -> a"
};

class PipelineGraph {
 public:
  /// Entries without a name are left out; of two with one name the first counts.
  explicit PipelineGraph(const Field& services);

  const std::vector<PipelineEntry>& entries() const { return entries_; }
  std::span<const std::string_view> names() const { return names_; }
  const PipelineEntry* find(std::string_view name) const;

  /// One cycle for each dependency that closes one in a depth-first walk in document order; self-loops excepted.
  std::vector<PipelineCycle> cycles() const;

 private:
  std::vector<PipelineEntry> entries_;
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
};

}  // namespace stackgate::validate
