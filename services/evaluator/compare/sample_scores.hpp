// What each sample of a task scored, from the records that tasks write. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/suite/task.hpp"

namespace stackgate::evaluator {

/// Numbers by score and sample; no_value where a sample has none. 8 bytes for each.
class SampleScores {
 public:
  /// `record`: a JSON object with "scores": {<score>: number, true, false, or {<score>: …}}. What is none of it is
  /// passed over, like numbers below 0 and beyond a million, and scores beyond the hundredth.
  void add(std::int64_t number, std::string_view record);
  /// Of a score, by its name or its metric's; nullptr: there are none.
  const std::vector<double>* find(const Score& score) const;

 private:
  void put(std::string_view name, std::size_t number, double value);

  std::map<std::string, std::vector<double>, std::less<>> columns_{};
};

}  // namespace stackgate::evaluator
