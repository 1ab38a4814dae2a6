// A model directory of drawn weights for benchmarks: llama, float32, nothing that anybody would want to read.
#pragma once
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "services/kit/safetensors/header.hpp"
#include "services/model/directory/config.hpp"
#include "services/model/directory/tensors.hpp"

namespace stackgate::bench {

struct ModelSize {
  std::uint32_t hidden = 1024, intermediate = 2816, layers = 12, heads = 16, key_value_heads = 4;
  std::uint32_t vocabulary = 32'000, context = 2048;
};

/// ByteLevel with the 256 letters and nothing else.
inline std::string byte_tokenizer() {
  std::string vocabulary;
  std::uint32_t id = 0, next = 256;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    const bool own = (byte >= 33 && byte < 127) || (byte >= 161 && byte < 173) || byte >= 174;
    vocabulary += fmt::format(R"({}"\u{:04x}":{})", id == 0 ? "" : ",", own ? byte : next, id);
    if (!own) ++next;
    ++id;
  }
  return fmt::format(
      R"({{"version":"1.0","added_tokens":[],"normalizer":null,"post_processor":null,)"
      R"("pre_tokenizer":{{"type":"ByteLevel","add_prefix_space":false}},"decoder":{{"type":"ByteLevel"}},)"
      R"("model":{{"type":"BPE","vocab":{{{}}},"merges":[]}}}})",
      vocabulary);
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Weights drawn evenly, small enough that the numbers stay finite.
inline void write_weights(const std::filesystem::path& path, const model::Config& config) {
  std::vector<safetensors::Tensor> tensors;
  for (const model::ExpectedTensor& each : model::expected_tensors(config))
    tensors.push_back({.name = each.name, .dtype = "F32", .shape = each.shape});
  const auto header = safetensors::write_header(tensors);
  std::ofstream out(path, std::ios::binary);
  out << header.value();
  std::uint32_t state = 1;
  std::vector<float> values;
  for (const safetensors::Tensor& each : tensors) {
    values.resize((each.end - each.begin) / sizeof(float));
    for (float& value : values) {
      state = state * 1664525U + 1013904223U;
      value = each.shape.size() == 1 ? 1.0F : (static_cast<float>(state >> 8U) / 8388608.0F - 1.0F) * 0.05F;
    }
    out.write(reinterpret_cast<const char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(float)));
  }
}

inline void write_model(const std::filesystem::path& directory, const ModelSize& size) {
  std::filesystem::create_directories(directory);
  const std::string config = fmt::format(
      R"({{"architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_act":"silu","eos_token_id":0,"hidden_size":{},)"
      R"("intermediate_size":{},"num_hidden_layers":{},"num_attention_heads":{},"num_key_value_heads":{},"vocab_size":{},)"
      R"("max_position_embeddings":{}}})",
      size.hidden, size.intermediate, size.layers, size.heads, size.key_value_heads, size.vocabulary, size.context);
  write_text(directory / "config.json", config);
  write_text(directory / "tokenizer.json", byte_tokenizer());
  write_text(directory / "tokenizer_config.json", "{}");
  write_weights(directory / "model.safetensors", model::read_config(config).config);
}

}  // namespace stackgate::bench
