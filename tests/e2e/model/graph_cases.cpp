// graph_cases DIR THREADS HOW: runs the sequences of DIR/cases.json through the model in DIR, all in one batch, each in
// its own chunks and with its own adapter, and writes the logits of all their positions to DIR/logits.bin. HOW: by
// "kernels"; by "tensors", as a GPU computes, or so in "bfloat16". See graph/oracle.py.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/value.hpp"
#include "services/model/graph/graph.hpp"
#include "services/model/loading/adapter_weights.hpp"
#include "services/model/loading/load.hpp"

namespace {

using namespace stackgate;
using namespace stackgate::model;

std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

[[noreturn]] void die(const std::string& problem) {
  fmt::print(stderr, "{}\n", problem);
  std::exit(1);
}

AdapterWeights adapter(const std::string& directory, const Config& base) {
  const LoadedAdapter loaded = load_adapter(directory, base);
  for (const auto& finding : loaded.findings) die(finding.path + ": " + finding.problem);
  return adapter_weights(loaded, base);
}

struct Sequence {
  std::vector<std::uint32_t> tokens, blocks;
  std::vector<std::size_t> chunks;
  std::ptrdiff_t adapter = -1;
  std::size_t done = 0, next_chunk = 0;
  std::vector<float> logits;
};

constexpr std::size_t page = 16;

std::vector<Sequence> read_sequences(const json::Value& list) {
  std::vector<Sequence> out;
  std::uint32_t block = 0;
  for (const json::Value& each : list.items()) {
    Sequence& sequence = out.emplace_back();
    for (const json::Value& token : each.find("tokens")->items())
      sequence.tokens.push_back(static_cast<std::uint32_t>(token.integer()));
    for (const json::Value& chunk : each.find("chunks")->items())
      sequence.chunks.push_back(static_cast<std::size_t>(chunk.integer()));
    sequence.adapter = each.find("adapter")->integer();
    for (std::size_t at = 0; at < sequence.tokens.size(); at += page) sequence.blocks.push_back(block++);
  }
  // Pages of one sequence do not lie in order.
  for (Sequence& each : out) std::ranges::reverse(each.blocks);
  return out;
}

/// One step over all sequences that have tokens left; false when none has.
bool step(Graph& graph, std::vector<Sequence>& sequences, const std::vector<AdapterWeights>& adapters) {
  std::vector<SequenceRows> rows;
  std::vector<std::size_t> whose;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    Sequence& each = sequences[i];
    if (each.done == each.tokens.size()) continue;
    const std::size_t count = each.chunks[each.next_chunk++];
    rows.push_back({.tokens = std::span(each.tokens).subspan(each.done, count),
                    .position = static_cast<std::uint32_t>(each.done),
                    .blocks = each.blocks,
                    .adapter = each.adapter < 0 ? nullptr : &adapters[static_cast<std::size_t>(each.adapter)],
                    .logits = static_cast<std::uint32_t>(count)});
    each.done += count;
    whose.push_back(i);
  }
  if (rows.empty()) return false;
  const auto ran = graph.step(rows, {.logits =
                                         [&](std::size_t sequence, std::size_t, std::span<const float> logits) {
                                           std::vector<float>& all = sequences[whose[sequence]].logits;
                                           all.insert(all.end(), logits.begin(), logits.end());
                                         },
                                     .hidden_state = {}});
  if (!ran) die(ran.error());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) die("usage: graph_cases DIR THREADS kernels|tensors|bfloat16");
  const std::string how = argv[3];
  const std::string directory = argv[1];
  const DirectoryRead read = load_directory(directory);
  for (const auto& finding : read.findings) fmt::print(stderr, "{}: {}\n", finding.path, finding.problem);
  if (!read.findings.empty()) return 1;
  auto weights = Weights::map(directory, read.model);
  if (!weights) die(weights.error().problem);

  const std::string text = file_text(directory + "/cases.json");
  json::Document cases;
  if (!json::parse(text, cases)) die("cases.json cannot be read");
  std::vector<AdapterWeights> adapters;
  for (const json::Value& each : cases.root.find("adapters")->items())
    adapters.push_back(adapter(fmt::format("{}/{}", directory, each.string()), read.model.config));
  std::vector<Sequence> sequences = read_sequences(*cases.root.find("sequences"));

  auto graph = Graph::open(read.model, std::move(*weights),
                           {.threads = static_cast<unsigned>(std::atoi(argv[2])),
                            .blocks = 64,
                            .block_tokens = page,
                            .placement = {Device::cpu, how == "bfloat16" ? Dtype::bf16 : Dtype::f32},
                            .own_kernels = how == "kernels"});
  if (!graph) die(graph.error());
  while (step(**graph, sequences, adapters)) {
  }
  std::ofstream out(directory + "/logits.bin", std::ios::binary);
  for (const Sequence& each : sequences)
    out.write(reinterpret_cast<const char*>(each.logits.data()),
              static_cast<std::streamsize>(each.logits.size() * sizeof(float)));
  return 0;
}
