// Tokenizer files small enough to follow by hand.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "services/kit/json/write.hpp"
#include "services/model/tokenizer/byte_alphabet.hpp"
#include "services/model/tokenizer/encoder.hpp"
#include "services/model/tokenizer/read.hpp"

namespace stackgate::tokenizer::test {

/// The parts of a file, as JSON texts.
struct Parts {
  std::string added = "[]", normalizer = "null", pre_tokenizer = "null", post_processor = "null", decoder;
  std::vector<std::string> tokens;  // in the order of their ids
  std::vector<std::pair<std::string, std::string>> merges;
  std::string options;  // more members of the model: "\"ignore_merges\":true,"
};

inline std::string to_json(const Parts& parts) {
  std::string vocab, merges;
  json::Writer vocab_writer(vocab), merges_writer(merges);
  vocab_writer.object([&] {
    for (std::size_t id = 0; id < parts.tokens.size(); ++id)
      vocab_writer.member(parts.tokens[id], static_cast<std::int64_t>(id));
  });
  merges_writer.array([&] {
    for (const auto& [left, right] : parts.merges)
      merges_writer.array([&] {
        merges_writer.value(std::string_view(left));
        merges_writer.value(std::string_view(right));
      });
  });
  return fmt::format(R"({{"version":"1.0","added_tokens":{},"normalizer":{},"pre_tokenizer":{},"post_processor":{},)"
                     R"("decoder":{},"model":{{"type":"BPE",{}"vocab":{},"merges":{}}}}})",
                     parts.added, parts.normalizer, parts.pre_tokenizer, parts.post_processor, parts.decoder,
                     parts.options, vocab, merges);
}

/// 256 bytes (id = byte), then "he" 256, "ll" 257, "hell" 258, "hello" 259, " w" 260, and <|end|> 261.
inline Parts byte_level() {
  Parts parts;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(static_cast<unsigned char>(byte));
    parts.tokens.push_back(alphabet_text(std::string_view(&c, 1)));
  }
  for (const char* merged : {"he", "ll", "hell", "hello", "Ġw"}) parts.tokens.emplace_back(merged);
  parts.merges = {{"h", "e"}, {"l", "l"}, {"he", "ll"}, {"hell", "o"}, {"Ġ", "w"}};
  parts.added = R"([{"id":261,"content":"<|end|>","special":true,"normalized":false}])";
  parts.pre_tokenizer = R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":true})";
  parts.decoder = R"({"type":"ByteLevel"})";
  return parts;
}

/// SentencePiece kind: <unk> 0, <s> 1, </s> 2, <0x00> … <0xFF> 3 to 258, then ▁ a b c ▁a ab ▁ab ▁▁.
inline Parts byte_fallback() {
  Parts parts;
  parts.tokens = {"<unk>", "<s>", "</s>"};
  for (unsigned byte = 0; byte < 256; ++byte) parts.tokens.push_back(fmt::format("<0x{:02X}>", byte));
  for (const char* token : {"▁", "a", "b", "c", "▁a", "ab", "▁ab", "▁▁"}) parts.tokens.emplace_back(token);
  parts.merges = {{"▁", "▁"}, {"a", "b"}, {"▁", "ab"}, {"▁", "a"}};
  parts.added = R"([{"id":0,"content":"<unk>","special":true},{"id":1,"content":"<s>","special":true},)"
                R"({"id":2,"content":"</s>","special":true}])";
  parts.options = R"("byte_fallback":true,"fuse_unk":true,"unk_token":"<unk>",)";
  parts.normalizer = R"({"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"▁"},)"
                     R"({"type":"Replace","pattern":{"String":" "},"content":"▁"}]})";
  parts.post_processor = R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>","type_id":0}},)"
                         R"({"Sequence":{"id":"A","type_id":0}}],"special_tokens":{"<s>":{"id":"<s>","ids":[1]}}})";
  parts.decoder = R"({"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},)"
                  R"({"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]})";
  return parts;
}

inline std::shared_ptr<const Tokenizer> make(const Parts& parts) {
  TokenizerRead read = read_tokenizer(to_json(parts));
  for (const auto& finding : read.findings) ADD_FAILURE() << finding.path << ": " << validate::to_line(finding);
  return std::make_shared<const Tokenizer>(std::move(read.description));
}

inline std::vector<TokenId> bare(const std::shared_ptr<const Tokenizer>& tokenizer, std::string_view text) {
  const auto ids = Encoder(tokenizer).encode(text, {.add_special_tokens = false});
  EXPECT_TRUE(ids.has_value());
  return ids.value_or(std::vector<TokenId>{});
}

}  // namespace stackgate::tokenizer::test
