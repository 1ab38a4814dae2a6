// What the processes of a run tell each other besides sums.
#pragma once
#include <string>

#include "services/trainer/learn/group.hpp"
#include "services/trainer/training/failure.hpp"

namespace stackgate::trainer {

/// A rank is lost: the run goes on from a checkpoint once all are started again.
inline std::unexpected<Failure> lost(const std::string& why) {
  return std::unexpected(Failure{Ending::stopped, {{.message = why + "; start all processes again with --resume"}}});
}

inline Result<void> with_peers(std::expected<void, std::string> done) {
  if (!done) return lost(done.error());
  return {};
}

/// Rank 0's text, at most a mebibyte.
Result<std::string> text_of_first(Group& group, std::string text);

}  // namespace stackgate::trainer
