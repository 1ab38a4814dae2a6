// The files of a model small enough to follow by hand: eight tokens, one layer.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "services/kit/safetensors/header.hpp"
#include "services/model/directory/tensors.hpp"

namespace stackgate::model::test {

inline const std::string small_config =
    R"({"model_type":"llama","hidden_size":8,"intermediate_size":12,"num_hidden_layers":1,"num_attention_heads":4,)"
    R"("num_key_value_heads":2,"vocab_size":8,"max_position_embeddings":64,"eos_token_id":5})";
inline const std::string small_tokenizer =
    R"({"added_tokens":[{"id":5,"content":"</s>","special":true},{"id":6,"content":"<s>","special":true},)"
    R"({"id":7,"content":"<end>","special":true}],"normalizer":null,"pre_tokenizer":null,"decoder":{"type":"Fuse"},)"
    R"("post_processor":null,"model":{"type":"BPE","vocab":{"a":0,"b":1,"c":2,"d":3,"<unk>":4},"merges":[],)"
    R"("unk_token":"<unk>"}})";
inline const std::string small_tokenizer_config =
    R"({"bos_token":"<s>","eos_token":"</s>","add_bos_token":true,"chat_template":"{{ bos_token }}{{ messages }}"})";
inline const std::string small_generation = R"({"eos_token_id":[7],"temperature":0.5})";

/// A safetensors file of these tensors; every byte of the n-th is n.
inline std::string safetensors_file(std::span<const ExpectedTensor> tensors, const std::string& dtype = "BF16") {
  std::vector<safetensors::Tensor> list;
  for (const ExpectedTensor& each : tensors) list.push_back({.name = each.name, .dtype = dtype, .shape = each.shape});
  std::string out = safetensors::write_header(list).value();
  char number = 0;
  for (const safetensors::Tensor& each : list) out += std::string(each.end - each.begin, ++number);
  return out;
}

/// Name → content of a whole model in one file.
inline std::map<std::string, std::string> small_model() {
  return {{"config.json", small_config},
          {"tokenizer.json", small_tokenizer},
          {"tokenizer_config.json", small_tokenizer_config},
          {"generation_config.json", small_generation},
          {"model.safetensors", safetensors_file(expected_tensors(read_config(small_config).config))}};
}

}  // namespace stackgate::model::test
