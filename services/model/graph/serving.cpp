#include "services/model/graph/serving.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <ATen/Parallel.h>

namespace stackgate::model {
namespace {

constexpr std::size_t tokens_at_once = 16;  // of one sequence, by one thread

/// y += (x · Aᵀ) · B, for rows [first, first + count).
void adapt(const LowRank& pair, const float* x, std::size_t in, std::size_t first, std::size_t count, float* y,
           std::size_t out) {
  if (pair.rank == 0) return;
  at::parallel_for(0, static_cast<std::int64_t>(count), 4, [&](std::int64_t begin, std::int64_t end) {
    const std::size_t rows = static_cast<std::size_t>(end - begin), at = first + static_cast<std::size_t>(begin);
    std::vector<float> low(rows * pair.rank);
    kernels().product({pair.a.data(), Dtype::f32, pair.rank, in}, 0, pair.rank, {x + at * in, rows, in}, low.data(),
                      pair.rank);
    kernels().add_combinations({low.data(), rows, pair.rank}, pair.b.data(), pair.rank, out, y + at * out, out);
  });
}

/// Queries of some tokens of a sequence, for one head of keys and values.
struct Piece {
  std::size_t sequence = 0, head = 0;
  std::size_t row = 0, token = 0, count = 0;  // in the batch, in the sequence
};

class KernelStepping final : public Stepping {
 public:
  KernelStepping(const Layers& model, const GraphOptions& options)
      : model_(model), pages_(model.config, options.blocks, options.block_tokens) {}
  std::unique_ptr<StepOperations> begin(std::span<const SequenceRows> sequences) override {
    return std::make_unique<Serving>(model_, pages_, sequences);
  }

 private:
  const Layers& model_;
  Pages pages_;
};

}  // namespace

Serving::Serving(const Layers& model, Pages& pages, std::span<const SequenceRows> sequences)
    : model_(model), pages_(pages), sequences_(sequences) {
  std::vector<const AdapterWeights*> adapters;
  for (const SequenceRows& each : sequences) adapters.insert(adapters.end(), each.tokens.size(), each.adapter);
  runs_ = runs_of(adapters);
}

std::vector<Serving::Run> Serving::runs_of(std::span<const AdapterWeights* const> adapters) {
  std::vector<Run> out;
  for (std::size_t row = 0; row < adapters.size(); ++row) {
    if (adapters[row] == nullptr) continue;
    if (!out.empty() && out.back().adapter == adapters[row] && out.back().first + out.back().count == row)
      ++out.back().count;
    else
      out.push_back({row, 1, adapters[row]});
  }
  return out;
}

at::Tensor Serving::linear(std::size_t layer, Module module, const at::Tensor& x) {
  const Linear& linear = model_.layers[layer][module];
  at::Tensor y = product(linear, x);
  const auto in = static_cast<std::size_t>(linear.in()), out = static_cast<std::size_t>(linear.out());
  for (const Run& run : runs_)
    adapt(run.adapter->layers[layer][static_cast<std::size_t>(module)], x.data_ptr<float>(), in, run.first, run.count,
          y.data_ptr<float>(), out);
  return y;
}

at::Tensor Serving::head(const at::Tensor& x, std::span<const AdapterWeights* const> adapters) {
  at::Tensor y = product(model_.head, x);
  for (const Run& run : runs_of(adapters))
    adapt(run.adapter->head, x.data_ptr<float>(), static_cast<std::size_t>(model_.head.in()), run.first, run.count,
          y.data_ptr<float>(), static_cast<std::size_t>(model_.head.out()));
  return y;
}

void Serving::store(std::size_t layer, const at::Tensor& k, const at::Tensor& v) {
  const std::size_t heads = model_.config.key_value_heads, width = model_.config.head_width;
  const at::Tensor whole_keys = k.contiguous(), whole_values = v.contiguous();
  const float *key = whole_keys.data_ptr<float>(), *value = whole_values.data_ptr<float>();
  for (const SequenceRows& each : sequences_)
    for (std::size_t token = 0; token < each.tokens.size(); ++token) {
      const std::size_t position = each.position + token, place = position % pages_.block_tokens() * width;
      const std::uint32_t block = each.blocks[position / pages_.block_tokens()];
      for (std::size_t head = 0; head < heads; ++head, key += width, value += width) {
        std::memcpy(pages_.at(layer, Pages::What::keys, block, head) + place, key, width * sizeof(float));
        std::memcpy(pages_.at(layer, Pages::What::values, block, head) + place, value, width * sizeof(float));
      }
    }
}

at::Tensor Serving::attend(std::size_t layer, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  store(layer, k, v);
  const Config& config = model_.config;
  const std::int64_t rows = q.size(0), groups = config.key_value_heads, shared = config.heads / groups;
  const std::int64_t width = config.head_width;
  // Queries that share keys lie together: [groups, rows, shared, width].
  const at::Tensor queries = q.view({rows, groups, shared, width}).permute({1, 0, 2, 3}).contiguous();
  at::Tensor out = at::empty_like(queries);

  std::vector<Piece> pieces;
  std::size_t row = 0;
  for (std::size_t s = 0; s < sequences_.size(); ++s)
    for (std::size_t token = 0; token < sequences_[s].tokens.size();) {
      const std::size_t count = std::min(tokens_at_once, sequences_[s].tokens.size() - token);
      for (std::size_t head = 0; head < config.key_value_heads; ++head) pieces.push_back({s, head, row, token, count});
      token += count;
      row += count;
    }
  const auto of_token = static_cast<std::size_t>(shared * width);  // floats
  const float scale = 1.0F / std::sqrt(static_cast<float>(width));
  at::parallel_for(0, static_cast<std::int64_t>(pieces.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<const float*> keys, values;
    std::vector<std::size_t> lengths;
    std::vector<float> scratch;
    for (std::int64_t i = begin; i < end; ++i) {
      const Piece& piece = pieces[static_cast<std::size_t>(i)];
      const SequenceRows& sequence = sequences_[piece.sequence];
      const std::size_t longest = sequence.position + piece.token + piece.count;
      const auto used = sequence.blocks.first((longest + pages_.block_tokens() - 1) / pages_.block_tokens());
      keys.clear(), values.clear(), lengths.clear();
      pages_.list(layer, Pages::What::keys, used, piece.head, keys);
      pages_.list(layer, Pages::What::values, used, piece.head, values);
      for (std::size_t t = 0; t < piece.count; ++t)
        lengths.insert(lengths.end(), static_cast<std::size_t>(shared), sequence.position + piece.token + t + 1);
      scratch.resize(std::max(scratch.size(), attention_scratch(longest)));
      const std::size_t offset = (piece.head * static_cast<std::size_t>(rows) + piece.row) * of_token;
      kernels().attend(
          {.queries = {queries.data_ptr<float>() + offset, lengths.size(), static_cast<std::size_t>(width)},
           .lengths = lengths.data(),
           .keys = {keys.data(), pages_.block_tokens()},
           .values = {values.data(), pages_.block_tokens()},
           .width = static_cast<std::size_t>(width),
           .scale = scale,
           .scratch = scratch.data()},
          out.data_ptr<float>() + offset, static_cast<std::size_t>(width));
    }
  });
  return out.permute({1, 0, 2, 3}).reshape({rows, config.heads * width});
}

std::unique_ptr<Stepping> step_by_kernels(const Layers& model, const GraphOptions& options) {
  return std::make_unique<KernelStepping>(model, options);
}

}  // namespace stackgate::model
