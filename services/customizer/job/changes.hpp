// What a step has changed, in the words of NeMo's events. Pure and thread-safe.
#pragma once
#include <string>
#include <vector>

#include "services/customizer/job/customization.hpp"

namespace stackgate::customizer {

struct Change {
  std::string message{};  // "TrainingJobRunning"
  std::string detail{};   // why, where there is a reason: a sentence
  friend bool operator==(const Change&, const Change&) = default;
};

/// In the order in which they happened: a stage's attempt, its state, why it waits, the customization's own end.
std::vector<Change> changes_of(const Customization& before, const Customization& after);

}  // namespace stackgate::customizer
