#include "services/model/graph/graph.hpp"

#include <new>
#include <vector>

#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/model/directory/memory.hpp"
#include "services/model/graph/device.hpp"
#include "services/model/graph/rope.hpp"
#include "services/model/graph/step_operations.hpp"
#include "services/model/graph/threads.hpp"

namespace stackgate::model {
namespace {

constexpr std::size_t logits_at_once = 64;  // rows: a vocabulary of 128,000 makes 32 MB of them

struct Wanted {
  std::size_t sequence, token;
  std::int64_t row;
};

bool by_kernels(const GraphOptions& options) {
  return options.own_kernels && options.placement.device == Device::cpu && options.placement.dtype == Dtype::f32;
}

TensorPlan plan_of(const GraphOptions& options) {
  if (by_kernels(options)) return {};
  return {torch_device(options.placement.device), scalar_type(options.placement.dtype)};
}

/// What libtorch says of a fault, for people.
template <class Work>
std::expected<void, std::string> guarded(std::string_view what, const Work& work) {
  try {
    work();
    return {};
  } catch (const c10::Error& error) {
    return std::unexpected(fmt::format("{}: {}", what, error.what_without_backtrace()));
  } catch (const std::bad_alloc&) {
    return std::unexpected(fmt::format("{}: there is no memory for it", what));
  } catch (const std::exception& error) {  // oneDNN's
    return std::unexpected(fmt::format("{}: {}", what, error.what()));
  }
}

/// Whether products of this type can be made here: oneDNN throws where the processor has no instructions for it.
std::expected<void, std::string> try_product(const Placement& placement) {
  constexpr std::int64_t size = 32;
  const at::Tensor some = at::ones(
      {size, size}, at::TensorOptions().device(torch_device(placement.device)).dtype(scalar_type(placement.dtype)));
  return guarded(fmt::format("{} does not compute in {} here (use --dtype float32)", to_string(placement.device),
                             arithmetic_name(placement.dtype)),
                 [&] { (void)at::mm(some, some).sum().item(); });
}

class TorchGraph final : public Graph {
 public:
  TorchGraph(const ModelDirectory& model, Weights weights, const GraphOptions& options)
      : weights_(std::move(weights)),
        layers_(make_layers(model, weights_, plan_of(options))),
        device_(torch_device(options.placement.device)),
        stepping_(by_kernels(options) ? step_by_kernels(layers_, options) : step_by_tensors(layers_, options)) {
    const RopeTables tables = rope_tables(model.config, model.context);
    const auto rows = static_cast<std::int64_t>(model.context), half = std::int64_t{model.config.head_width / 2};
    // at::tensor() copies.
    cosines_ = at::tensor(at::ArrayRef<float>(tables.cosines)).view({rows, 1, half}).to(device_);
    sines_ = at::tensor(at::ArrayRef<float>(tables.sines)).view({rows, 1, half}).to(device_);
  }

  std::expected<void, std::string> step(std::span<const SequenceRows> sequences, const StepResults& results) override {
    const c10::InferenceMode inference;
    return guarded("a step failed", [&] { run(sequences, results); });
  }

 private:
  void run(std::span<const SequenceRows> sequences, const StepResults& results) {
    std::vector<std::int64_t> ids, positions;
    for (const SequenceRows& each : sequences)
      for (std::size_t token = 0; token < each.tokens.size(); ++token) {
        ids.push_back(each.tokens[token]);
        positions.push_back(static_cast<std::int64_t>(each.position + token));
      }
    if (ids.empty()) return;
    const std::unique_ptr<StepOperations> operations = stepping_->begin(sequences);
    const at::Tensor places = at::tensor(positions).to(device_);
    const at::Tensor states = hidden_states(layers_, at::tensor(ids).to(device_), cosines_.index_select(0, places),
                                            sines_.index_select(0, places), *operations);
    if (results.hidden_state) give_states(sequences, states.to(at::kCPU), results);
    if (results.logits) give_logits(sequences, states, *operations, results);
  }

  void give_states(std::span<const SequenceRows> sequences, const at::Tensor& states,
                   const StepResults& results) const {
    const std::size_t width = layers_.config.hidden;
    const float* row = states.data_ptr<float>();
    for (std::size_t s = 0; s < sequences.size(); ++s)
      for (std::size_t token = 0; token < sequences[s].tokens.size(); ++token, row += width)
        if (sequences[s].hidden_states) results.hidden_state(s, token, {row, width});
  }

  void give_logits(std::span<const SequenceRows> sequences, const at::Tensor& states, StepOperations& operations,
                   const StepResults& results) const {
    std::vector<Wanted> wanted;
    std::int64_t end = 0;
    for (std::size_t s = 0; s < sequences.size(); ++s) {
      const std::size_t tokens = sequences[s].tokens.size(), count = std::min<std::size_t>(sequences[s].logits, tokens);
      end += static_cast<std::int64_t>(tokens);
      for (std::size_t i = count; i > 0; --i) wanted.push_back({s, tokens - i, end - static_cast<std::int64_t>(i)});
    }
    const std::size_t width = layers_.config.vocabulary;
    for (std::size_t begin = 0; begin < wanted.size(); begin += logits_at_once) {
      const auto some = std::span(wanted).subspan(begin, std::min(logits_at_once, wanted.size() - begin));
      std::vector<std::int64_t> rows;
      std::vector<const AdapterWeights*> adapters;
      for (const Wanted& each : some) {
        rows.push_back(each.row);
        adapters.push_back(sequences[each.sequence].adapter);
      }
      const at::Tensor logits =
          operations.head(states.index_select(0, at::tensor(rows).to(device_)), adapters).to(at::kCPU);
      const float* row = logits.data_ptr<float>();
      for (const Wanted& each : some) {
        results.logits(each.sequence, each.token, {row, width});
        row += width;
      }
    }
  }

  const Weights weights_;
  const Layers layers_;
  const at::Device device_;
  at::Tensor cosines_, sines_;  // [context, 1, head_width / 2]
  const std::unique_ptr<Stepping> stepping_;
};

}  // namespace

std::expected<std::unique_ptr<Graph>, std::string> Graph::open(const ModelDirectory& model, Weights weights,
                                                               const GraphOptions& options) {
  use_threads(options.threads);
  const c10::InferenceMode inference;
  TRY(try_product(options.placement));
  try {
    return std::make_unique<TorchGraph>(model, std::move(weights), options);
  } catch (const c10::Error& error) {
    return std::unexpected(std::string("the model cannot be set up: ") + error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    return std::unexpected(
        fmt::format("there is no memory for keys and values: {} pages of {} bytes", options.blocks,
                    memory_needed(model, options.placement.dtype).cache_per_token * options.block_tokens));
  }
}

std::expected<Device, std::string> Graph::device(std::optional<Device> asked) { return usable_device(asked); }

std::string Graph::blas() { return blas_in_use(); }

}  // namespace stackgate::model
