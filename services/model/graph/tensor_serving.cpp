#include "services/model/graph/tensor_serving.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace stackgate::model {
namespace {

// What a layer's attention may take at once besides the pages: numbers of gathered keys, and of scores.
constexpr std::size_t most_gathered = std::size_t{1} << 26U, most_scores = std::size_t{1} << 26U;

/// An adapter's matrices on a device.
struct DeviceAdapter {
  struct Pair {
    at::Tensor a, b;  // [rank, in], [rank, out]; undefined: the module is not adapted
  };
  at::TensorOptions options;
  std::vector<std::array<Pair, module_names.size()>> layers;
  Pair head;
};

DeviceAdapter::Pair pair_on(const LowRank& pair, const at::TensorOptions& options) {
  if (pair.rank == 0) return {};
  const auto rank = static_cast<std::int64_t>(pair.rank);
  const auto matrix = [&](const std::vector<float>& values) {
    const auto columns = static_cast<std::int64_t>(values.size()) / rank;
    const at::Tensor over = at::from_blob(const_cast<float*>(values.data()), {rank, columns}, at::kFloat);
    return over.to(options.device(), at::typeMetaToScalarType(options.dtype()), false, true);
  };
  return {matrix(pair.a), matrix(pair.b)};
}

/// Copied once, and kept beside the adapter.
const DeviceAdapter& on_device_of(const AdapterWeights& adapter, const at::TensorOptions& options) {
  const auto* kept = static_cast<const DeviceAdapter*>(adapter.on_device.get());
  if (kept != nullptr && kept->options.device() == options.device() && kept->options.dtype() == options.dtype())
    return *kept;
  auto copied = std::make_shared<DeviceAdapter>();
  copied->options = options;
  for (const auto& layer : adapter.layers) {
    auto& pairs = copied->layers.emplace_back();
    for (std::size_t i = 0; i < layer.size(); ++i) pairs[i] = pair_on(layer[i], options);
  }
  copied->head = pair_on(adapter.head, options);
  const DeviceAdapter& out = *copied;
  adapter.on_device = std::move(copied);
  return out;
}

/// y[rows] += (x[rows] · Aᵀ) · B
void adapt(const DeviceAdapter::Pair& pair, const at::Tensor& x, const at::Tensor& rows, at::Tensor& y) {
  if (!pair.a.defined()) return;
  const at::Tensor low = at::mm(x.index_select(0, rows).to(pair.a.scalar_type()), pair.a.t());
  y.index_add_(0, rows, at::mm(low, pair.b).to(at::kFloat));
}

class TensorStepping final : public Stepping {
 public:
  TensorStepping(const Layers& model, const GraphOptions& options) : model_(model) {
    const Config& config = model.config;
    const auto positions = static_cast<std::int64_t>(options.blocks * options.block_tokens);
    pages_.block_tokens = static_cast<std::int64_t>(options.block_tokens);
    for (std::uint32_t i = 0; i < config.layers; ++i)
      for (auto* of : {&pages_.keys, &pages_.values})  // zeros: what the mask hides must be finite numbers
        of->push_back(at::zeros({positions, config.key_value_heads, config.head_width}, model.head.weight.options()));
  }
  std::unique_ptr<StepOperations> begin(std::span<const SequenceRows> sequences) override {
    return std::make_unique<TensorServing>(model_, pages_, sequences);
  }

 private:
  const Layers& model_;
  TensorPages pages_;
};

}  // namespace

std::unique_ptr<Stepping> step_by_tensors(const Layers& model, const GraphOptions& options) {
  return std::make_unique<TensorStepping>(model, options);
}

TensorServing::TensorServing(const Layers& model, TensorPages& pages, std::span<const SequenceRows> sequences)
    : model_(model), pages_(pages), sequences_(sequences) {
  std::vector<const AdapterWeights*> adapters;
  std::vector<std::int64_t> written;
  for (const SequenceRows& each : sequences) {
    adapters.insert(adapters.end(), each.tokens.size(), each.adapter);
    for (std::size_t token = 0; token < each.tokens.size(); ++token)
      written.push_back(place(each, each.position + token));
  }
  adapted_ = adapted_rows(adapters);
  written_ = on_device(written);
  plan_attention();
}

at::Tensor TensorServing::on_device(const std::vector<std::int64_t>& numbers) const {
  return at::tensor(numbers).to(model_.head.weight.device());
}

std::int64_t TensorServing::place(const SequenceRows& sequence, std::size_t position) const {
  const auto block_tokens = static_cast<std::size_t>(pages_.block_tokens);
  return std::int64_t{sequence.blocks[position / block_tokens]} * pages_.block_tokens +
         static_cast<std::int64_t>(position % block_tokens);
}

std::vector<TensorServing::Adapted> TensorServing::adapted_rows(std::span<const AdapterWeights* const> adapters) const {
  std::map<const AdapterWeights*, std::vector<std::int64_t>> rows;
  for (std::size_t row = 0; row < adapters.size(); ++row)
    if (adapters[row] != nullptr) rows[adapters[row]].push_back(static_cast<std::int64_t>(row));
  std::vector<Adapted> out;
  for (const auto& [adapter, of_it] : rows) out.push_back({adapter, on_device(of_it)});
  return out;
}

at::Tensor TensorServing::product(const Linear& linear, const at::Tensor& x) const {
  const at::Tensor y = at::mm(x.to(linear.weight.scalar_type()), linear.weight.t()).to(at::kFloat);
  return linear.bias.defined() ? y.add(linear.bias) : y;
}

at::Tensor TensorServing::linear(std::size_t layer, Module module, const at::Tensor& x) {
  at::Tensor y = product(model_.layers[layer][module], x);
  for (const Adapted& each : adapted_)
    adapt(on_device_of(*each.adapter, model_.head.weight.options()).layers[layer][static_cast<std::size_t>(module)], x,
          each.rows, y);
  return y;
}

at::Tensor TensorServing::head(const at::Tensor& x, std::span<const AdapterWeights* const> adapters) {
  at::Tensor y = product(model_.head, x);
  for (const Adapted& each : adapted_rows(adapters))
    adapt(on_device_of(*each.adapter, model_.head.weight.options()).head, x, each.rows, y);
  return y;
}

/// Sequences with one token are computed together, the longest first, so that little is padded; the others in parts
/// whose scores stay small.
void TensorServing::plan_attention() {
  const Config& config = model_.config;
  std::vector<Part> single;
  std::size_t row = 0;
  const auto end_of = [&](const Part& part) { return sequences_[part.sequence].position + part.first + part.count; };
  for (std::size_t s = 0; s < sequences_.size(); ++s) {
    const std::size_t tokens = sequences_[s].tokens.size();
    const std::size_t longest = std::max<std::size_t>(1, sequences_[s].position + tokens);
    const std::size_t at_once = std::max<std::size_t>(1, most_scores / (longest * config.heads));
    if (tokens == 1) single.push_back({s, row, 0, 1});
    for (std::size_t first = 0; tokens > 1 && first < tokens; first += at_once) {
      const Part part{s, row + first, first, std::min(at_once, tokens - first)};
      add_together({&part, 1});
    }
    row += tokens;
  }
  std::ranges::sort(single, std::greater{}, end_of);
  for (std::size_t begin = 0; begin < single.size();) {
    const std::size_t of_one = end_of(single[begin]) * config.key_value_heads * config.head_width;
    const std::size_t count = std::clamp<std::size_t>(most_gathered / of_one, 1, single.size() - begin);
    add_together(std::span(single).subspan(begin, count));
    begin += count;
  }
}

/// All parts have as many tokens; the first one ends last.
void TensorServing::add_together(std::span<const Part> parts) {
  const std::size_t tokens = parts.front().count;
  const std::size_t longest = sequences_[parts.front().sequence].position + parts.front().first + tokens;
  std::vector<std::int64_t> rows, places;
  std::vector<float> mask;
  for (const Part& part : parts) {
    const SequenceRows& sequence = sequences_[part.sequence];
    const std::size_t before = sequence.position + part.first;
    for (std::size_t i = 0; i < longest; ++i) places.push_back(place(sequence, std::min(i, before + tokens - 1)));
    for (std::size_t t = 0; t < tokens; ++t) {
      rows.push_back(static_cast<std::int64_t>(part.row + t));
      for (std::size_t i = 0; i < longest; ++i)
        mask.push_back(i <= before + t ? 0 : -std::numeric_limits<float>::infinity());
    }
  }
  Together out{.sequences = static_cast<std::int64_t>(parts.size()),
               .tokens = static_cast<std::int64_t>(tokens),
               .longest = static_cast<std::int64_t>(longest),
               .rows = on_device(rows),
               .places = on_device(places),
               .mask = {}};
  out.mask = at::tensor(mask).view({out.sequences, 1, 1, out.tokens, out.longest}).to(model_.head.weight.device());
  together_.push_back(std::move(out));
}

at::Tensor TensorServing::attended(std::size_t layer, const Together& together, const at::Tensor& q) const {
  const std::int64_t groups = model_.config.key_value_heads, shared = model_.config.heads / groups;
  const std::int64_t width = model_.config.head_width, count = together.sequences * groups;
  const auto gathered = [&](const at::Tensor& pages) {
    return pages.index_select(0, together.places)
        .view({together.sequences, together.longest, groups, width})
        .permute({0, 2, 1, 3})
        .reshape({count, together.longest, width});
  };
  const at::ScalarType type = model_.head.weight.scalar_type();
  // Queries that share keys lie together: [sequences * groups, shared * tokens, width].
  const at::Tensor queries = q.index_select(0, together.rows)
                                 .view({together.sequences, together.tokens, groups, shared, width})
                                 .permute({0, 2, 3, 1, 4})
                                 .reshape({count, shared * together.tokens, width})
                                 .to(type);
  at::Tensor scores = at::bmm(queries, gathered(pages_.keys[layer]).transpose(1, 2)).to(at::kFloat);
  scores.mul_(1 / std::sqrt(static_cast<double>(width)));
  scores = scores.view({together.sequences, groups, shared, together.tokens, together.longest}).add_(together.mask);
  const at::Tensor shares = scores.softmax(-1).view({count, shared * together.tokens, together.longest}).to(type);
  return at::bmm(shares, gathered(pages_.values[layer]))
      .view({together.sequences, groups, shared, together.tokens, width})
      .permute({0, 3, 1, 2, 4})
      .reshape({together.sequences * together.tokens, groups * shared * width})
      .to(at::kFloat);
}

at::Tensor TensorServing::attend(std::size_t layer, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  pages_.keys[layer].index_copy_(0, written_, k.to(pages_.keys[layer].scalar_type()));
  pages_.values[layer].index_copy_(0, written_, v.to(pages_.values[layer].scalar_type()));
  at::Tensor out = at::empty({q.size(0), q.size(1) * q.size(2)}, q.options());
  for (const Together& each : together_) out.index_copy_(0, each.rows, attended(layer, each, q));
  return out;
}

}  // namespace stackgate::model
