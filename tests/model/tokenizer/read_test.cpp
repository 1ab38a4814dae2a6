#include "services/model/tokenizer/read.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/model/tokenizer/small_tokenizers.hpp"

namespace stackgate::tokenizer {
namespace {

std::vector<std::string> lines(const validate::Findings& findings) {
  std::vector<std::string> out;
  for (const auto& finding : findings) out.push_back(finding.path + ": " + finding.problem);
  return out;
}

std::string changed(std::string json, std::string_view from, std::string_view to) {
  const std::size_t at = json.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? json : json.replace(at, from.size(), to);
}

struct Fault {
  std::string_view from, to, line;
};

TEST(ReadTokenizer, names_each_fault_and_its_place) {
  const std::string good = test::to_json(test::byte_level());
  const std::vector<Fault> faults = {
      {R"("type":"BPE")", R"("type":"Unigram")", "tokenizer.json: model: the model \"Unigram\" is not served"},
      {R"("type":"BPE")", R"("type":"WordPiece")", "tokenizer.json: model: the model \"WordPiece\" is not served"},
      {R"("type":"BPE")", R"("type":"BPE","dropout":0.1)", "tokenizer.json: model.dropout: merges at random"},
      {R"("type":"BPE")", R"("type":"BPE","end_of_word_suffix":"</w>")",
       "tokenizer.json: model: has a \"end_of_word_suffix\""},
      {R"("type":"BPE")", R"("type":"BPE","unk_token":"<none>")",
       "tokenizer.json: model: \"unk_token\" <none> is no token"},
      {R"("type":"BPE")", R"("type":"BPE","ignore_merges":1)",
       "tokenizer.json: model.ignore_merges: must be true or false"},
      {R"(["h","e"])", R"(["h","e","l"])",
       R"(tokenizer.json: model.merges[0]: must be two tokens: "a b" or ["a", "b"])"},
      {R"(["h","e"])", R"("h  e")", R"(tokenizer.json: model.merges[0]: must be two tokens: "a b" or ["a", "b"])"},
      {R"(["h","e"])", R"("h z")", "tokenizer.json: model.merges[0]: one of the two, or both together, is no token"},
      {R"("hell":258)", R"("hell":257)", "tokenizer.json: model.vocab: \"hell\" has the id of another token"},
      {R"("hell":258)", R"("hell":-1)", "tokenizer.json: model.vocab: the id of \"hell\" must be 0 to 2097151"},
      {R"("hell":258)", R"("hell":4000000000)", "tokenizer.json: model.vocab: the id of \"hell\" must be 0 to 2097151"},
      {R"("id":261)", R"("id":97)",
       "tokenizer.json: added_tokens[0]: \"<|end|>\" has the id 97, which is another token in model.vocab"},
      {R"("content":"<|end|>")", R"("content":"")",
       "tokenizer.json: added_tokens[0]: its \"content\" must have 1 to 512 bytes"},
      {R"("normalizer":null)", R"("normalizer":{"type":"BertNormalizer"})",
       "tokenizer.json: normalizer: the normalizer \"BertNormalizer\" is not served"},
      {R"("normalizer":null)", R"("normalizer":{"type":"Replace","pattern":{"Regex":" +"},"content":""})",
       "tokenizer.json: normalizer: replaces something other than a text"},
      {R"("normalizer":null)", R"("normalizer":7)", "tokenizer.json: normalizer: must be an object with a \"type\""},
      {R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":true})",
       R"({"type":"Sequence","pretokenizers":[{"type":"ByteLevel","add_prefix_space":false},{"type":"Digits"}]})",
       "tokenizer.json: pre_tokenizer.pretokenizers[1]: comes after ByteLevel, which must be the last"},
      {R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":true})", R"({"type":"Punctuation"})",
       "tokenizer.json: pre_tokenizer: the pre-tokenizer \"Punctuation\" is not served"},
      {R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":true})",
       R"({"type":"Split","pattern":{"Regex":"[a&&b]"},"behavior":"Isolated"})",
       "tokenizer.json: pre_tokenizer: its pattern intersects classes with &&"},
      {R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":true})",
       R"({"type":"Split","pattern":{"Regex":"a"},"behavior":"Sometimes"})",
       "tokenizer.json: pre_tokenizer: the behavior \"Sometimes\" is not served"},
      {R"("decoder":{"type":"ByteLevel"})", R"("decoder":{"type":"CTC"})",
       "tokenizer.json: decoder: the decoder \"CTC\" is not served"},
      {R"("decoder":{"type":"ByteLevel"})", R"("decoder":{"type":"Fuse"})",
       "tokenizer.json: decoder: is not ByteLevel, as the pre-tokenizer is"},
      {R"("decoder":{"type":"ByteLevel"})", R"("decoder":null)", "tokenizer.json: lacks \"decoder\""},
      {R"("post_processor":null)", R"("post_processor":{"type":"BertProcessing"})",
       "tokenizer.json: post_processor: the post-processor \"BertProcessing\" is not served"},
      {R"("post_processor":null)",
       R"("post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>"}},{"Sequence":{"id":"A"}}],"special_tokens":{"<s>":{"ids":[999]}}})",
       "tokenizer.json: post_processor: its special_tokens lack the ids of \"<s>\""},
  };
  EXPECT_TRUE(read_tokenizer(good).findings.empty());
  for (const Fault& fault : faults)
    EXPECT_THAT(lines(read_tokenizer(changed(good, fault.from, fault.to)).findings), ::testing::Contains(fault.line))
        << fault.to;
}

TEST(ReadTokenizer, reports_all_faults_at_once_with_cures) {
  std::string json = test::to_json(test::byte_level());
  json = changed(json, R"("normalizer":null)",
                 R"("normalizer":{"type":"Sequence","normalizers":[{"type":"A"},{"type":"B"}]})");
  json = changed(json, R"("decoder":{"type":"ByteLevel"})", R"("decoder":{"type":"WordPiece"})");
  const TokenizerRead read = read_tokenizer(json);
  EXPECT_THAT(lines(read.findings),
              ::testing::IsSupersetOf({"tokenizer.json: normalizer.normalizers[0]: the normalizer \"A\" is not served",
                                       "tokenizer.json: normalizer.normalizers[1]: the normalizer \"B\" is not served",
                                       "tokenizer.json: decoder: the decoder \"WordPiece\" is not served"}));
  EXPECT_EQ(read.findings[0].fix, "use one of NFC, NFD, NFKC, NFKD, Lowercase, Prepend, Replace, Strip, Sequence");
}

TEST(ReadTokenizer, refuses_what_is_not_json_and_what_is_too_deep) {
  EXPECT_TRUE(validate::has_errors(read_tokenizer("").findings));
  EXPECT_TRUE(validate::has_errors(read_tokenizer("[]").findings));
  EXPECT_TRUE(validate::has_errors(read_tokenizer("{}").findings));
  EXPECT_TRUE(validate::has_errors(read_tokenizer("{\"a\":1,\"a\":2}").findings));
  std::string nested = R"({"type":"NFC"})";
  for (int i = 0; i < 12; ++i) nested = R"({"type":"Sequence","normalizers":[)" + nested + "]}";
  test::Parts parts = test::byte_level();
  parts.normalizer = nested;
  EXPECT_THAT(lines(read_tokenizer(test::to_json(parts)).findings),
              ::testing::Contains(::testing::HasSubstr("nests sequences deeper than 8")));
}

TEST(ReadTokenizer, takes_merges_as_texts_and_as_lists) {
  std::string texts = test::to_json(test::byte_level());
  for (const auto& [from, to] : {std::pair{R"(["h","e"])", R"("h e")"}, {R"(["l","l"])", R"("l l")"}})
    texts = changed(texts, from, to);
  TokenizerRead read = read_tokenizer(texts);
  ASSERT_TRUE(read.findings.empty());
  EXPECT_EQ(test::bare(std::make_shared<const Tokenizer>(std::move(read.description)), "hello"),
            std::vector<TokenId>{259});
}

}  // namespace
}  // namespace stackgate::tokenizer
