#include "services/kit/peft/tensors.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

namespace stackgate::peft {
namespace tensors_detail {

using safetensors::Tensor;

std::string at(std::string_view tensor) {
  return tensor.empty() ? std::string("adapter[adapter_model.safetensors]")
                        : fmt::format("adapter[adapter_model.safetensors][{}]", tensor);
}

struct Part {
  std::string_view module;
  char side = 0;  // 'A' or 'B'
  bool embedding = false;
};

struct Ending {
  std::string_view text;
  char side;
  bool embedding;
};
constexpr std::array<Ending, 4> endings{{{".lora_A.weight", 'A', false},
                                         {".lora_B.weight", 'B', false},
                                         {".lora_embedding_A", 'A', true},
                                         {".lora_embedding_B", 'B', true}}};
constexpr std::string_view prefix = "base_model.model.";

/// Side 0: no name that PEFT gives.
Part read_name(std::string_view name) {
  if (!name.starts_with(prefix)) return {};
  name.remove_prefix(prefix.size());
  for (const Ending& ending : endings)
    if (name.size() > ending.text.size() && name.ends_with(ending.text))
      return {name.substr(0, name.size() - ending.text.size()), ending.side, ending.embedding};
  return {};
}

struct Hint {
  std::string_view part, problem, fix;
};
constexpr std::string_view resized =
    "is the whole matrix, which PEFT saves beside the pairs when the vocabulary was resized; servers do not load it";
constexpr std::array<Hint, 7> hints{{
    {".lora_magnitude_vector", "belongs to DoRA, which servers do not load", "train without DoRA"},
    {".modules_to_save.", "is a whole module, which servers do not load", "train without modules_to_save"},
    {".lora_A.default.", "carries an adapter's name", "save the adapter with save_pretrained()"},
    {".lora_B.default.", "carries an adapter's name", "save the adapter with save_pretrained()"},
    {".bias", "is a bias, which servers do not load", "train with bias=\"none\""},
    {".embed_tokens.weight", resized, "train without new tokens, or save with save_embedding_layers=False"},
    {".lm_head.weight", resized, "train without new tokens, or save with save_embedding_layers=False"},
}};

/// What servers load into: https://docs.vllm.ai, supported LoRA modules; attention and MLP, fused or not.
constexpr std::array<std::string_view, 12> common_modules{"q_proj",       "k_proj",       "v_proj",    "o_proj",
                                                          "gate_proj",    "up_proj",      "down_proj", "qkv_proj",
                                                          "gate_up_proj", "embed_tokens", "lm_head",   "out_proj"};

class Checker {
 public:
  Checker(const safetensors::Header& header, const Config& config) : header_(header), config_(config) {}

  Tensors run() {
    for (const safetensors::Fault& fault : header_.faults)
      add(out_.findings, "adapter-weights-header", at(fault.tensor), fault.problem, fault.fix);
    for (const Tensor& tensor : header_.tensors) one(tensor);
    if (header_.tensors.empty() && header_.faults.empty())
      add(out_.findings, "adapter-weights-empty", at(""), "holds no tensors", "save the trained adapter");
    for (const auto& [module, pair] : pairs_) both(module, pair);
    unused_targets();
    return std::move(out_);
  }

 private:
  struct Pair {
    const Tensor *a = nullptr, *b = nullptr;
    bool embedding = false;
  };

  void one(const Tensor& tensor) {
    out_.parameters += safetensors::elements_of(tensor).value_or(0);
    if (tensor.dtype != "F32" && tensor.dtype != "F16" && tensor.dtype != "BF16")
      add(out_.findings, "adapter-weights-dtype", at(tensor.name),
          fmt::format("has dtype {}; servers take F32, F16 and BF16", tensor.dtype), "save it as BF16");
    const Part part = read_name(tensor.name);
    if (part.side == 0) return unknown(tensor);
    if (tensor.shape.size() != 2)
      return add(out_.findings, "adapter-weights-shape", at(tensor.name),
                 fmt::format("has {} dimensions instead of two", tensor.shape.size()), "train linear modules only");
    Pair& pair = pairs_[std::string(part.module)];
    pair.embedding = part.embedding;
    const Tensor*& place = part.side == 'A' ? pair.a : pair.b;
    if (place != nullptr)
      return add(out_.findings, "adapter-weights-pair", at(tensor.name), fmt::format("repeats \"{}\"", place->name),
                 "keep one of the two");
    place = &tensor;
  }

  void unknown(const Tensor& tensor) {
    for (const Hint& hint : hints)
      if (tensor.name.contains(hint.part))
        return add(out_.findings, "adapter-weights-name", at(tensor.name), std::string(hint.problem),
                   std::string(hint.fix));
    add(out_.findings, "adapter-weights-name", at(tensor.name),
        "is no name of the form base_model.model.<module>.lora_A.weight or .lora_B.weight",
        "save the adapter with PEFT's save_pretrained()");
  }

  void both(const std::string& module, const Pair& pair) {
    const Tensor* there = pair.a != nullptr ? pair.a : pair.b;
    if (pair.a == nullptr || pair.b == nullptr) {
      add(out_.findings, "adapter-weights-pair", at(there->name),
          fmt::format("has no lora_{} beside it", pair.a == nullptr ? 'A' : 'B'), "save both matrices of each module");
      return;
    }
    const std::uint64_t rank = pair.a->shape[0];
    if (rank != pair.b->shape[1])
      add(out_.findings, "adapter-weights-rank", at(pair.b->name),
          fmt::format("has the shape [{}], which does not fit lora_A's [{}]", fmt::join(pair.b->shape, ", "),
                      fmt::join(pair.a->shape, ", ")),
          "the second dimension of lora_B is the first of lora_A, the rank");
    const auto special = config_.rank_pattern.rank_of(module);
    const std::int64_t wanted = special.value_or(config_.rank);
    if (wanted > 0 && rank != static_cast<std::uint64_t>(wanted))
      add(out_.findings, "adapter-weights-rank", at(pair.a->name),
          fmt::format("has rank {}, but adapter_config.json says {}{}", rank, wanted,
                      special ? " in rank_pattern" : ""),
          "upload the configuration that these weights were trained with");
    if (config_.has_targets && !config_.targets.contains(module))
      add(out_.findings, "adapter-weights-target", at(there->name),
          fmt::format("belongs to \"{}\", which target_modules does not name", module),
          "upload the configuration that these weights were trained with");
    const std::string_view suffix = suffix_of(module);
    if (std::ranges::find(common_modules, suffix) == common_modules.end() && odd_.insert(std::string(suffix)).second)
      warn(out_.findings, "adapter-module-uncommon", at(there->name),
           fmt::format("changes \"{}\", which not every server can", suffix), "ask the server's documentation");
    out_.modules[module] = {.rank = static_cast<std::int64_t>(std::min<std::uint64_t>(rank, INT64_MAX)),
                            .in = pair.a->shape[1],
                            .out = pair.b->shape[0],
                            .embedding = pair.embedding};
  }

  void unused_targets() {
    if (header_.tensors.empty()) return;
    for (const std::string& name : config_.targets.names()) {
      const bool used = std::ranges::any_of(pairs_, [&](const auto& pair) { return is_called(pair.first, name); });
      if (!used)
        warn(out_.findings, "adapter-target-unused", "adapter[adapter_config.json].target_modules",
             fmt::format("names \"{}\", for which there are no weights", name), "take it off the list");
    }
  }

  const safetensors::Header& header_;
  const Config& config_;
  std::map<std::string, Pair> pairs_;
  std::set<std::string> odd_;
  Tensors out_;
};

}  // namespace tensors_detail

Tensors check_tensors(const safetensors::Header& header, const Config& config) {
  return tensors_detail::Checker(header, config).run();
}

}  // namespace stackgate::peft
