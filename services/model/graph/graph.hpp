// A model in memory, ready to answer: steps over batches of sequences, keys and values in pages. The only header of
// this folder that others include, and it knows nothing of libtorch.
//
// A step takes any mixture of rows: one for each sequence that is being continued, many for one that begins. Each
// sequence may have an adapter of its own.
//
// One thread opens a Graph and makes its steps; it uses GraphOptions::threads for its work. Whoever only steps needs
// nothing of libtorch: the class is abstract, so that it can come out of a shared object
// (services/model/graph_library).
#pragma once
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "services/model/adapter/adapter_weights.hpp"
#include "services/model/directory/model_directory.hpp"
#include "services/model/directory/placement.hpp"
#include "services/model/loading/weights.hpp"

namespace stackgate::model {

struct GraphOptions {
  unsigned threads = 1;
  std::size_t blocks = 256;       // pages of keys and values, for all sequences together
  std::size_t block_tokens = 16;  // positions of a page
  Placement placement{};
  bool own_kernels = true;  // false, for tests: float32 on a CPU is computed by the operations that a GPU has
};

/// What a step computes of one sequence.
struct SequenceRows {
  std::span<const std::uint32_t> tokens;  // below Config::vocabulary
  std::uint32_t position = 0;             // of the first token; what is before it was in earlier steps
  std::span<const std::uint32_t> blocks;  // pages of all positions up to the last token
  const AdapterWeights* adapter = nullptr;
  std::uint32_t logits = 1;    // wanted of so many of the last tokens
  bool hidden_states = false;  // wanted of all tokens
};

struct StepResults {
  /// One row of `vocabulary` logits, valid during the call. `token` counts from the step's first token of the sequence.
  std::function<void(std::size_t sequence, std::size_t token, std::span<const float> logits)> logits;
  /// The last layer's normed state of one token, `hidden` values.
  std::function<void(std::size_t sequence, std::size_t token, std::span<const float> state)> hidden_state;
};

class Graph {
 public:
  /// Whether it can be used, before anything of a model is read; nothing asked: a GPU where there is one. The error is
  /// a sentence.
  static std::expected<Device, std::string> device(std::optional<Device> asked);

  /// Float32 on a CPU copies nothing of the weights, and takes memory for the pages when they are first used. The error
  /// is a sentence.
  static std::expected<std::unique_ptr<Graph>, std::string> open(const ModelDirectory& model, Weights weights,
                                                                 const GraphOptions& options);
  Graph() = default;
  virtual ~Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Runs one step. The error is a sentence; then what the step's tokens left in their pages means nothing.
  virtual std::expected<void, std::string> step(std::span<const SequenceRows> sequences,
                                                const StepResults& results) = 0;

  /// "OpenBLAS 0.3.21 … SkylakeX", or a warning that the reference BLAS is installed.
  static std::string blas();
};

}  // namespace stackgate::model
