// What a step of the graph costs: one sequence against the memory's bandwidth, sixteen against one, adapters mixed
// against one adapter and against none, a prompt against bare libtorch. 220 M parameters in float32, one thread.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "services/model/graph/graph.hpp"
#include "services/model/kernels/kernels.hpp"
#include "services/model/loading/load.hpp"
#include "tests/bench/figure.hpp"
#include "tests/bench/memory.hpp"
#include "tests/bench/model_directory.hpp"

namespace {

using namespace stackgate;
using namespace stackgate::model;

constexpr std::size_t page = 16, context = 192;  // positions of each sequence before the step that is measured
constexpr bench::ModelSize size{};

struct Sequence {
  std::vector<std::uint32_t> blocks;
  std::uint32_t token = 7;
  const AdapterWeights* adapter = nullptr;
};

std::vector<Sequence> sequences(std::size_t count) {
  std::vector<Sequence> out(count);
  std::uint32_t block = 0;
  for (Sequence& each : out)
    for (std::size_t i = 0; i < (context + page) / page; ++i) each.blocks.push_back(block++);
  return out;
}

void run(Graph& graph, const std::vector<SequenceRows>& rows) {
  const auto ran =
      graph.step(rows, {.logits = [](std::size_t, std::size_t, std::span<const float>) {}, .hidden_state = {}});
  if (!ran) {
    fmt::print(stderr, "{}\n", ran.error());
    std::exit(1);
  }
}

/// Tokens per CPU second when each of the sequences is continued by one.
double decoding(Graph& graph, const std::vector<Sequence>& all) {
  std::vector<SequenceRows> rows;
  for (const Sequence& each : all)
    rows.push_back({.tokens = {&each.token, 1}, .position = context, .blocks = each.blocks, .adapter = each.adapter});
  const double us = bench::microseconds([&] { run(graph, rows); }, 0.3, 5);
  return static_cast<double>(all.size()) / us * 1e6;
}

AdapterWeights adapter(std::size_t rank) {
  const std::size_t d = size.hidden, kv = d / size.heads * size.key_value_heads, f = size.intermediate;
  const std::size_t in[] = {d, d, d, d, d, d, f}, out[] = {d, kv, kv, d, f, f, d};
  AdapterWeights weights;
  weights.layers.resize(size.layers);
  for (auto& layer : weights.layers)
    for (std::size_t m = 0; m < module_names.size(); ++m)
      layer[m] = {rank, std::vector<float>(rank * in[m], 0.001F), std::vector<float>(rank * out[m], 0.001F)};
  return weights;
}

/// The same shapes by libtorch's own operations and nothing else.
class Bare {
 public:
  Bare() {
    const std::int64_t d = size.hidden, kv = d / size.heads * size.key_value_heads, f = size.intermediate;
    const std::int64_t out[] = {d, kv, kv, d, f, f, d}, in[] = {d, d, d, d, d, d, f};
    for (std::uint32_t layer = 0; layer < size.layers; ++layer)
      for (int m = 0; m < 7; ++m) weights_.push_back(at::rand({out[m], in[m]}).sub_(0.5).mul_(0.05));
    head_ = at::rand({size.vocabulary, d}).sub_(0.5).mul_(0.05);
  }
  at::Tensor forward(std::int64_t rows) const {
    const std::int64_t width = size.hidden / size.heads, groups = size.key_value_heads, shared = size.heads / groups;
    const at::Tensor mask = at::ones({rows, rows}, at::kBool).triu(1);
    at::Tensor x = at::rand({rows, size.hidden});
    for (std::uint32_t layer = 0; layer < size.layers; ++layer) {
      const auto weight = [&](std::uint32_t m) { return weights_[layer * 7 + m]; };
      at::Tensor h = normed(x);
      const at::Tensor q = at::linear(h, weight(0)).view({rows, size.heads, width}).transpose(0, 1);
      const auto heads = [&](std::uint32_t m) {
        return at::linear(h, weight(m)).view({rows, groups, width}).transpose(0, 1).repeat_interleave(shared, 0);
      };
      const at::Tensor k = heads(1), v = heads(2);
      const at::Tensor scores = at::bmm(q, k.transpose(1, 2)).mul_(0.125).masked_fill_(mask, -1e30);
      const at::Tensor mixed = at::bmm(scores.softmax(-1), v).transpose(0, 1).reshape({rows, size.hidden});
      x = x + at::linear(mixed, weight(3));
      h = normed(x);
      x = x + at::linear(at::silu(at::linear(h, weight(4))).mul_(at::linear(h, weight(5))), weight(6));
    }
    return at::linear(x.narrow(0, rows - 1, 1), head_);
  }

 private:
  static at::Tensor normed(const at::Tensor& x) { return x * (x.square().mean(-1, true) + 1e-6).rsqrt(); }
  std::vector<at::Tensor> weights_;
  at::Tensor head_;
};

void decoding_figures(Graph& graph, std::uint64_t weight_bytes) {
  const double memory = bench::reading_rate();
  const double one = decoding(graph, sequences(1)), sixteen = decoding(graph, sequences(16));
  const double rate = one * static_cast<double>(weight_bytes) / 1e9;
  bench::print({"graph_one_sequence", rate / memory, "x reading", 0.6, true, memory,
                fmt::format("{:.1f} tokens/s, {:.1f} GB/s of weights", one, rate)});
  bench::print({"graph_16_sequences", sixteen / one, "x one", 4, true, one, fmt::format("{:.1f} tokens/s", sixteen)});

  std::vector<AdapterWeights> adapters(8, adapter(16));
  std::vector<Sequence> all = sequences(16);
  for (Sequence& each : all) each.adapter = &adapters[0];
  const double single = decoding(graph, all);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].adapter = &adapters[i % adapters.size()];
  const double mixed = decoding(graph, all);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].adapter = i % 4 == 3 ? nullptr : &adapters[i % 4];
  const double four = decoding(graph, all);
  bench::print({"graph_8_adapters_mixed", mixed / single, "x one adapter", 0.9, true, single,
                fmt::format("{:.1f} tokens/s", mixed)});
  bench::print({"graph_3_adapters_and_base", four / sixteen, "x base", 0.75, true, sixteen,
                fmt::format("{:.1f} tokens/s", four)});
}

void prompt_figures(Graph& graph) {
  constexpr std::size_t rows = 512;
  std::vector<std::uint32_t> tokens(rows), blocks(rows / page);
  std::iota(tokens.begin(), tokens.end(), 0);
  std::iota(blocks.begin(), blocks.end(), 0);
  const std::vector<SequenceRows> prompt = {{.tokens = tokens, .position = 0, .blocks = blocks}};
  const Bare bare;
  const c10::InferenceMode inference;
  // In turns, so that a neighbour on the machine slows both.
  double ours = 1e9, theirs = 1e9;
  for (int round = 0; round < 4; ++round) {
    ours = std::min(ours, bench::microseconds([&] { run(graph, prompt); }, 0.1, 1));
    theirs = std::min(theirs, bench::microseconds([&] { bare.forward(rows); }, 0.1, 1));
  }
  bench::print({"graph_prompt_of_512", theirs / ours, "x bare libtorch", 0.9, true, rows / theirs * 1e6,
                fmt::format("{:.0f} tokens/s", rows / ours * 1e6)});
}

}  // namespace

int main() {
  const std::filesystem::path directory =
      std::filesystem::temp_directory_path() / fmt::format("graph-bench-{}", getpid());
  bench::write_model(directory, size);
  const DirectoryRead read = load_directory(directory.string());
  for (const auto& finding : read.findings) fmt::print(stderr, "{}: {}\n", finding.path, finding.problem);
  auto weights = Weights::map(directory.string(), read.model);
  const std::uint64_t bytes = weights->mapped_bytes() - std::uint64_t{size.vocabulary} * size.hidden * sizeof(float);
  auto graph = Graph::open(read.model, std::move(*weights),
                           {.threads = 1, .blocks = 16 * (context + page) / page, .block_tokens = page});
  fmt::print(stderr, "{}; {}\n", Graph::blas(), kernels().instruction_set);
  decoding_figures(**graph, bytes);
  prompt_figures(**graph);
  std::filesystem::remove_all(directory);
  return bench::exit_status;
}
