#include "services/trainer/tiny/tiny_files.hpp"

#include <array>
#include <string_view>

#include "services/kit/json/write.hpp"
#include "services/model/tokenizer/byte_alphabet.hpp"

namespace stackgate::trainer {
namespace tiny_files_detail {

constexpr std::array<std::string_view, 3> special{"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
constexpr std::uint32_t end_of_turn = 2;  // of `special`

std::uint32_t first_special(const Pairs& pairs) { return static_cast<std::uint32_t>(256 + pairs.size()); }

void write_added(json::Writer& w, const Pairs& pairs) {
  w.array("added_tokens", [&] {
    for (std::uint32_t i = 0; i < special.size(); ++i)
      w.object([&] {
        w.member("id", first_special(pairs) + i);
        w.member("content", special[i]);
        w.member("special", true);
        for (const std::string_view flag : {"single_word", "lstrip", "rstrip", "normalized"}) w.member(flag, false);
      });
  });
}

void write_model(json::Writer& w, const Pairs& pairs) {
  const std::vector<std::string> symbols = symbols_of(pairs);
  w.object("model", [&] {
    w.member("type", "BPE");
    w.object("vocab", [&] {
      for (std::uint32_t i = 0; i < symbols.size(); ++i) w.member(tokenizer::alphabet_text(symbols[i]), i);
    });
    w.array("merges", [&] {
      for (const auto& [left, right] : pairs)
        w.value(tokenizer::alphabet_text(symbols[left]) + " " + tokenizer::alphabet_text(symbols[right]));
    });
  });
}

}  // namespace tiny_files_detail

std::uint32_t tiny_vocabulary(const Pairs& pairs) {
  using namespace tiny_files_detail;
  return first_special(pairs) + static_cast<std::uint32_t>(special.size());
}

std::string tiny_config(const TinyShape& shape, const Pairs& pairs) {
  using namespace tiny_files_detail;
  return json::object_text([&](json::Writer& w) {
    w.array("architectures", [&] { w.value("LlamaForCausalLM"); });
    w.member("model_type", "llama");
    w.member("hidden_act", "silu");
    w.member("hidden_size", shape.hidden);
    w.member("intermediate_size", shape.intermediate);
    w.member("num_hidden_layers", shape.layers);
    w.member("num_attention_heads", shape.heads);
    w.member("num_key_value_heads", shape.key_value_heads);
    w.member("vocab_size", tiny_vocabulary(pairs));
    w.member("max_position_embeddings", shape.context);
    w.member("rms_norm_eps", 1e-5);
    w.member("rope_theta", 10'000);
    w.member("tie_word_embeddings", true);
    w.member("torch_dtype", "float32");
    w.array("eos_token_id", [&] {
      w.value(first_special(pairs) + end_of_turn);
      w.value(first_special(pairs));
    });
  });
}

std::string tiny_tokenizer(const Pairs& pairs) {
  const auto byte_level = [](json::Writer& w, std::string_view key) {
    w.object(key, [&] {
      w.member("type", "ByteLevel");
      w.member("add_prefix_space", false);
      w.member("trim_offsets", true);
      w.member("use_regex", true);
    });
  };
  return json::object_text([&](json::Writer& w) {
    w.member("version", "1.0");
    tiny_files_detail::write_added(w, pairs);
    w.member("normalizer", nullptr);
    byte_level(w, "pre_tokenizer");
    w.member("post_processor", nullptr);
    byte_level(w, "decoder");
    tiny_files_detail::write_model(w, pairs);
  });
}

std::string tiny_tokenizer_config() {
  using tiny_files_detail::special;
  return json::object_text([&](json::Writer& w) {
    w.member("tokenizer_class", "PreTrainedTokenizerFast");
    w.member("eos_token", special[tiny_files_detail::end_of_turn]);
    w.member("add_bos_token", false);
    w.member("chat_template",
             "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
             "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}");
  });
}

}  // namespace stackgate::trainer
