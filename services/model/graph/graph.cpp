#include "services/model/graph/graph.hpp"

#include <new>
#include <vector>

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include "services/model/directory/memory.hpp"
#include "services/model/graph/rope.hpp"
#include "services/model/graph/serving.hpp"

namespace stackgate::model {
namespace {

constexpr std::size_t logits_at_once = 64;  // rows: a vocabulary of 128,000 makes 32 MB of them

/// A function of OpenBLAS; nullptr where libblas.so.3 is another library. Looked up, because the linker settles weak
/// symbols of a program as absent; in that library, because it may be loaded for a shared object alone.
template <class Function>
Function* of_openblas(const char* name) {
  static void* const library = dlopen("libblas.so.3", RTLD_LAZY | RTLD_NOLOAD);
  return reinterpret_cast<Function*>(dlsym(library != nullptr ? library : RTLD_DEFAULT, name));
}

struct Wanted {
  std::size_t sequence, token;
  std::int64_t row;
};

class TorchGraph final : public Graph {
 public:
  TorchGraph(const ModelDirectory& model, Weights weights, const GraphOptions& options)
      : weights_(std::move(weights)),
        layers_(make_layers(model, weights_)),
        pages_(model.config, options.blocks, options.block_tokens) {
    const RopeTables tables = rope_tables(model.config, model.context);
    const auto rows = static_cast<std::int64_t>(model.context), half = std::int64_t{model.config.head_width / 2};
    // at::tensor() copies.
    cosines_ = at::tensor(at::ArrayRef<float>(tables.cosines)).view({rows, 1, half});
    sines_ = at::tensor(at::ArrayRef<float>(tables.sines)).view({rows, 1, half});
  }

  std::expected<void, std::string> step(std::span<const SequenceRows> sequences, const StepResults& results) override {
    const c10::InferenceMode inference;
    try {
      run(sequences, results);
      return {};
    } catch (const c10::Error& error) {
      return std::unexpected(std::string("a step failed: ") + error.what_without_backtrace());
    } catch (const std::bad_alloc&) {
      return std::unexpected("a step failed: there is no memory for it");
    }
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
    Serving serving(layers_, pages_, sequences);
    const at::Tensor places = at::tensor(positions);
    const at::Tensor states = hidden_states(layers_, at::tensor(ids), cosines_.index_select(0, places),
                                            sines_.index_select(0, places), serving);
    if (results.hidden_state) give_states(sequences, states, results);
    if (results.logits) give_logits(sequences, states, serving, results);
  }

  void give_states(std::span<const SequenceRows> sequences, const at::Tensor& states,
                   const StepResults& results) const {
    const std::size_t width = layers_.config.hidden;
    const float* row = states.data_ptr<float>();
    for (std::size_t s = 0; s < sequences.size(); ++s)
      for (std::size_t token = 0; token < sequences[s].tokens.size(); ++token, row += width)
        if (sequences[s].hidden_states) results.hidden_state(s, token, {row, width});
  }

  void give_logits(std::span<const SequenceRows> sequences, const at::Tensor& states, const Serving& serving,
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
      const at::Tensor logits = serving.head(states.index_select(0, at::tensor(rows)), adapters);
      const float* row = logits.data_ptr<float>();
      for (const Wanted& each : some) {
        results.logits(each.sequence, each.token, {row, width});
        row += width;
      }
    }
  }

  const Weights weights_;
  const Layers layers_;
  at::Tensor cosines_, sines_;  // [context, 1, head_width / 2]
  Pages pages_;
};

}  // namespace

std::expected<std::unique_ptr<Graph>, std::string> Graph::open(const ModelDirectory& model, Weights weights,
                                                               const GraphOptions& options) {
  // libtorch's loops and OpenBLAS have pools of their own.
  at::set_num_threads(static_cast<int>(options.threads));
  if (auto* set = of_openblas<void(int)>("openblas_set_num_threads")) set(static_cast<int>(options.threads));
  const c10::InferenceMode inference;
  try {
    return std::make_unique<TorchGraph>(model, std::move(weights), options);
  } catch (const c10::Error& error) {
    return std::unexpected(std::string("the model cannot be set up: ") + error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    return std::unexpected(fmt::format("there is no memory for keys and values: {} pages of {} bytes", options.blocks,
                                       memory_needed(model).cache_per_token * options.block_tokens));
  }
}

std::string Graph::blas() {
  const auto config = of_openblas<char*()>("openblas_get_config"), core = of_openblas<char*()>("openblas_get_corename");
  if (config == nullptr || core == nullptr)
    return "the reference BLAS is installed, five to ten times slower than OpenBLAS: install libopenblas0-pthread";
  return fmt::format("{} on {}", config(), core());
}

}  // namespace stackgate::model
