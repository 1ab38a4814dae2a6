// A whole pull: what is here, what is missing, room for it, files side by side, the output complete or not there.
// Blocks.
#pragma once
#include <string>

#include "services/puller/plan/manifest.hpp"
#include "services/puller/plan/selection.hpp"
#include "services/puller/transfer/download.hpp"
#include "services/puller/transfer/source.hpp"

namespace stackgate::puller {

struct PullSettings {
  SourceSettings source{};
  FetcherOptions access{};
  Patterns patterns{};
  std::string output;
  unsigned parallel = 4;
  bool verify = false;  // what is complete already is hashed, not only measured
};

struct Outcome {
  Manifest manifest;
  bool was_complete = false;  // nothing was downloaded
};

Result<Outcome> pull(const PullSettings& settings, Counter& counter, const FailPoint& fail_point);

}  // namespace stackgate::puller
