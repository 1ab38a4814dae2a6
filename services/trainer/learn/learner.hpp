// A model that learns: the loss of examples and its gradient, by the graph that also serves. The only header of this
// folder that others include, and it knows nothing of libtorch.
//
// What is trained lies in one array of float32, and so does its gradient; for a GPU both are copied there and back in
// each pass. The base model's weights are never copied when they are float32 and a CPU computes, else once, when the
// learner is opened. One thread at a time may use a Learner, always the same one; it uses LearnerSettings::threads for
// its work. The class is abstract, so that it can come out of a shared object (services/trainer/learn_library).
#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "services/model/directory/model_directory.hpp"
#include "services/model/directory/placement.hpp"
#include "services/model/loading/weights.hpp"
#include "services/trainer/data/example.hpp"
#include "services/trainer/parameters/parameters.hpp"

namespace stackgate::trainer {

struct LearnerSettings {
  unsigned threads = 1;
  std::uint32_t positions = 1024;       // of the longest example
  bool gradient_checkpointing = false;  // activations of a layer are computed again instead of kept
  bool everything = false;              // trains all weights, instead of a LoRA
  LoraSettings lora{};
  std::optional<model::Device> device = model::Device::cpu;  // nothing: a GPU where there is one
  bool apart = false;  // for tests: what is trained is copied for each pass, as a GPU needs it
};

/// An example as a pass takes it. Attention never leaves it, whatever is beside it.
struct LearnedExample {
  std::span<const std::uint32_t> ids;  // below Config::vocabulary, at most LearnerSettings::positions
  std::span<const TokenRange> trained;
  std::uint64_t dropout_key = 0;  // equal keys drop the same inputs
};

class Learner {
 public:
  /// `weights` must outlive it. The device is looked at first. A: zero, as B is, until the caller sets it. The error is
  /// a sentence.
  static std::expected<std::unique_ptr<Learner>, std::string> open(const model::ModelDirectory& model,
                                                                   const model::Weights& weights,
                                                                   const LearnerSettings& settings);
  Learner() = default;
  virtual ~Learner() = default;
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  /// Of the settings: lora_parameters() or all_parameters().
  virtual const std::vector<Parameter>& parameters() const = 0;
  virtual std::span<float> values() = 0;
  virtual std::span<float> gradients() = 0;

  /// The sum of -log p over the trained tokens of all examples, together in one pass; adds its gradient, times
  /// `factor`, to gradients().
  virtual std::expected<double, std::string> learn(std::span<const LearnedExample> examples, double factor) = 0;
  /// The same sum alone, without dropout.
  virtual std::expected<double, std::string> loss(std::span<const LearnedExample> examples) = 0;
  /// [tokens, vocabulary], without dropout.
  virtual std::expected<std::vector<float>, std::string> logits(std::span<const std::uint32_t> ids) = 0;
};

/// Learner::open, linked or out of a shared object (services/trainer/learn_library).
using OpenLearner = std::function<std::expected<std::unique_ptr<Learner>, std::string>(
    const model::ModelDirectory& model, const model::Weights& weights, const LearnerSettings& settings)>;

}  // namespace stackgate::trainer
