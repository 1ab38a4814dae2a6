// A model that learns: the loss of examples and its gradient, by the graph that also serves. The only header of this
// folder that others include, and it knows nothing of libtorch.
//
// What is trained lies in one array of float32, and so does its gradient; the base model's weights are never copied
// when they are float32, else once, when the learner is opened. One thread at a time may use a Learner, always the same
// one; it uses LearnerSettings::threads for its work.
#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "services/model/directory/model_directory.hpp"
#include "services/model/loading/weights.hpp"
#include "services/model/modules.hpp"
#include "services/trainer/data/example.hpp"
#include "services/trainer/optimizer/parameter.hpp"

namespace stackgate::trainer {

/// A LoRA pair for each of `modules` in each layer: y = W·x + scale·B·(A·dropout(x)).
struct LoraSettings {
  std::uint32_t rank = 8;
  double scale = 2, dropout = 0;
  std::vector<model::Module> modules{};
};

struct LearnerSettings {
  unsigned threads = 1;
  std::uint32_t positions = 1024;       // of the longest example
  bool gradient_checkpointing = false;  // activations of a layer are computed again instead of kept
  bool everything = false;              // trains all weights, instead of a LoRA
  LoraSettings lora{};
};

/// An example as a pass takes it. Attention never leaves it, whatever is beside it.
struct LearnedExample {
  std::span<const std::uint32_t> ids;  // below Config::vocabulary, at most LearnerSettings::positions
  std::span<const TokenRange> trained;
  std::uint64_t dropout_key = 0;  // equal keys drop the same inputs
};

class Learner {
 public:
  /// `weights` must outlive it. A: zero, as B is, until the caller sets it. The error is a sentence.
  static std::expected<std::unique_ptr<Learner>, std::string> open(const model::ModelDirectory& model,
                                                                   const model::Weights& weights,
                                                                   const LearnerSettings& settings);
  ~Learner();
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  const std::vector<Parameter>& parameters() const;
  std::span<float> values();
  std::span<float> gradients();

  /// The sum of -log p over the trained tokens of all examples, together in one pass; adds its gradient, times
  /// `factor`, to gradients().
  std::expected<double, std::string> learn(std::span<const LearnedExample> examples, double factor);
  /// The same sum alone, without dropout.
  std::expected<double, std::string> loss(std::span<const LearnedExample> examples);
  /// [tokens, vocabulary], without dropout.
  std::expected<std::vector<float>, std::string> logits(std::span<const std::uint32_t> ids);

 private:
  class Impl;
  explicit Learner(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// What is trained by the settings, in the order of the array.
std::vector<Parameter> trained_parameters(const model::Config& config, const LearnerSettings& settings);

/// A LoRA's beginning: A uniform within ±1/√in by `seed` alone, B zero.
void draw_lora(std::span<const Parameter> parameters, std::span<float> values, std::uint64_t seed);

}  // namespace stackgate::trainer
