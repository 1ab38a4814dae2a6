// What a run has to know to go on, besides its tensors: state.json of a checkpoint. Pure.
#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace stackgate::trainer {

struct TrainingState {
  std::uint64_t step = 0;         // steps done; epoch and position follow from it
  std::uint64_t fingerprint = 0;  // of configuration, data and model: only an equal run may go on from here
  double loss_sum = 0;            // of all steps, over trained_tokens
  std::uint64_t trained_tokens = 0, tokens = 0;
  double seconds = 0;
  std::optional<double> val_loss{}, best_val_loss{};
  std::uint32_t worse_validations = 0;  // since the best one
};

std::string write_state(const TrainingState& state);
/// The error is a sentence about the text.
std::expected<TrainingState, std::string> read_state(std::string_view json);

}  // namespace stackgate::trainer
