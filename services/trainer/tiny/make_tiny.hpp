// A small base model from a text: for tests, and for trying things out without a download.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "services/trainer/learn/learner.hpp"
#include "services/trainer/report/report.hpp"
#include "services/trainer/tiny/tiny_files.hpp"
#include "services/trainer/training/failure.hpp"

namespace stackgate::trainer {

struct TinySettings {
  std::vector<std::string> texts;  // files of plain text
  std::string output;
  TinyShape shape{};
  std::uint32_t vocabulary = 1024;  // at most; bytes and special tokens included
  std::uint32_t steps = 300, batch_size = 8, window = 128;
  double learning_rate = 3e-3;
  std::uint64_t seed = 42;
  unsigned threads = 0;  // 0: the free cores
};

/// All weights are trained by the graph that trains adapters. `output` is there when it is whole.
Result<Ending> make_tiny(const TinySettings& settings, const OpenLearner& open_learner, Report& report,
                         const std::function<bool()>& stop);

}  // namespace stackgate::trainer
