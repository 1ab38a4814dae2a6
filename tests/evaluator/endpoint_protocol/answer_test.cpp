#include "services/evaluator/endpoint/protocol/answer.hpp"

#include <gmock/gmock.h>

namespace stackgate::evaluator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Question asked{.prompt = "q"};
const Question said{.messages = {{"user", "q"}}};

TEST(Question, is_written_for_either_path) {
  const Question completion{.prompt = "2+2=", .max_tokens = 5, .temperature = 0, .stop = {"\n"}, .seed = 7};
  EXPECT_EQ(path_of(completion), "/completions");
  EXPECT_EQ(write_question(completion, "m"),
            R"({"model":"m","prompt":"2+2=","max_tokens":5,"temperature":0,"stop":["\n"],"seed":7})");
  const Question chat{
      .messages = {{"system", "s"}, {"user", "u"}}, .max_tokens = 1, .tools = R"([{"type":"function"}])"};
  EXPECT_EQ(path_of(chat), "/chat/completions");
  EXPECT_EQ(write_question(chat, "m"),
            R"({"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}],)"
            R"("max_tokens":1,"tools":[{"type":"function"}]})");
  const Question likelihood{.prompt = "a b", .likelihood = true, .context_characters = 1};
  EXPECT_EQ(write_question(likelihood, "m"),
            R"({"model":"m","prompt":"a b","max_tokens":1,"temperature":0,"echo":true,"logprobs":1})");
}

TEST(Answer, has_the_first_choice) {
  const auto text = read_answer(asked, R"({"choices":[{"text":" 4","finish_reason":"stop"},{"text":"5"}],
                                           "usage":{"prompt_tokens":3,"completion_tokens":1}})");
  ASSERT_TRUE(text) << text.error();
  EXPECT_EQ(text->text, " 4");
  EXPECT_EQ(text->finish_reason, "stop");
  EXPECT_EQ(text->prompt_tokens, 3U);
  const auto chat = read_answer(said, R"({"choices":[{"message":{"content":[{"type":"text","text":"a"},{"text":"b"}],
                                          "tool_calls":[{"id":"1"}]}}]})");
  ASSERT_TRUE(chat) << chat.error();
  EXPECT_EQ(chat->text, "ab");
  EXPECT_EQ(chat->tool_calls, R"([{"id":"1"}])");
  EXPECT_EQ(read_answer(said, R"({"choices":[{"message":{"content":null}}]})")->text, "");
}

TEST(Answer, that_lies_in_types_is_refused) {
  for (const std::string_view body :
       {"", "[]", "{}", R"({"choices":[]})", R"({"choices":{}})", R"({"choices":[{}]})", R"({"choices":[{"text":5}]})",
        R"({"choices":[1]})", "{\"choices\":[{\"text\":\""})
    EXPECT_FALSE(read_answer(asked, body)) << body;
  EXPECT_FALSE(read_answer(said, R"({"choices":[{"text":"a"}]})"));
}

// "The sky" | " is blue": tokens The, sky, is, blue and one that is generated.
const Question scored{.prompt = "The sky is blue", .likelihood = true, .context_characters = 7};
std::string answer(std::string_view tokens, std::string_view values, std::string_view tops, std::string_view offsets) {
  std::string out = R"({"choices":[{"text":"","logprobs":{"tokens":)";
  out += tokens;
  out.append(R"(,"token_logprobs":)").append(values);
  if (!tops.empty()) out.append(R"(,"top_logprobs":)").append(tops);
  if (!offsets.empty()) out.append(R"(,"text_offset":)").append(offsets);
  return out + "}}]}";
}

TEST(Likelihood, is_that_of_the_tokens_behind_the_context) {
  const auto found =
      read_answer(scored, answer(R"(["The"," sky"," is"," blue","."])", "[null,-1,-0.5,-0.25,-9]",
                                 R"([null,{" sky":-1},{" is":-0.5},{" blue":-0.25},{".":-9}])", "[0,3,7,10,15]"));
  ASSERT_TRUE(found) << found.error();
  EXPECT_DOUBLE_EQ(found->likelihood->sum, -0.75);
  EXPECT_EQ(found->likelihood->tokens, 2U);
  EXPECT_TRUE(found->likelihood->is_greedy);
}

TEST(Likelihood, without_offsets_counts_the_tokens_characters) {
  const auto found =
      read_answer(scored, answer(R"(["The"," sky"," is"," blue","."])", "[null,-1,-0.5,-0.25,-9]",
                                 R"([null,{" sky":-1},{" was":-0.1," is":-0.5},{" blue":-0.25},{".":-9}])", ""));
  ASSERT_TRUE(found) << found.error();
  EXPECT_DOUBLE_EQ(found->likelihood->sum, -0.75);
  EXPECT_FALSE(found->likelihood->is_greedy);
}

TEST(Likelihood, counts_characters_and_a_token_over_the_boundary) {
  const Question question{.prompt = "é é", .likelihood = true, .context_characters = 1};
  const auto found = read_answer(question, answer(R"(["é"," é","x"])", "[null,-2,-1]", "", "[0,1,3]"));
  ASSERT_TRUE(found) << found.error();
  EXPECT_DOUBLE_EQ(found->likelihood->sum, -2);
  EXPECT_FALSE(found->likelihood->is_greedy);  // it was not said
  const Question inside{.prompt = "abc", .likelihood = true, .context_characters = 1};
  const auto over = read_answer(inside, answer(R"(["ab","c"])", "[-3,-1]", "", "[0,2]"));
  ASSERT_TRUE(over) << over.error();
  EXPECT_DOUBLE_EQ(over->likelihood->sum, -4);
}

TEST(Likelihood, of_an_endpoint_that_cannot_is_refused_with_the_reason) {
  struct Row {
    std::string body, why;
  };
  for (const Row& row : {
           // Generated tokens only: what llama.cpp's and older vLLM servers do with echo.
           Row{answer(R"(["."])", "[-0.1]", "", "[15]"), "generated tokens only"},
           Row{answer(R"(["."])", "[-0.1]", "", ""), "part of the prompt only"},
           Row{R"({"choices":[{"text":"The sky is blue."}]})", "no log-probabilities"},
           Row{R"({"choices":[{"text":"x","logprobs":null}]})", "no log-probabilities"},
           Row{answer(R"(["The sky is blue"])", "[null]", "", "[0]"), "first token"},
           Row{answer(R"(["The"," sky"," is"," blue"])", R"([null,-1,"NaN",-1])", "", "[0,3,7,10]"), "no number"},
           Row{answer(R"(["The"," sky"," is"," blue"])", "[null,-1,0.5,-1]", "", "[0,3,7,10]"), "above 0"},
           Row{answer(R"(["The"," sky"," is"," blue"])", "[null,-1,-1,-1]", "", "[0,3]"), "another number of offsets"},
           Row{answer(R"(["The"," sky"," is"," blue"])", "[null,-1,-1e308,-1e308]", "", "[0,3,7,10]"),
               "sum is no number"},
       }) {
    const auto found = read_answer(scored, row.body);
    ASSERT_FALSE(found) << row.body;
    EXPECT_THAT(found.error(), HasSubstr(row.why));
  }
}

TEST(Models, are_read_in_order) {
  EXPECT_THAT(*read_models(R"({"data":[{"id":"a"},{"id":""},{"name":"x"},{"id":"b"}]})"), ElementsAre("a", "b"));
  EXPECT_FALSE(read_models(R"({"models":[]})"));
  EXPECT_FALSE(read_models("no"));
}

TEST(Errors, keep_the_endpoints_words_and_no_key) {
  EXPECT_EQ(read_error(R"({"error":{"message":"no such\nmodel"}})", ""), "no such model");
  EXPECT_EQ(read_error(R"({"error":"bad key sk-1, sk-1"})", "sk-1"), "bad key ***, ***");
  EXPECT_EQ(read_error(R"({"error":"a * is hidden"})", "*"), "a *** is hidden") << "what hides it holds it";
  EXPECT_EQ(read_error(R"({"detail":"d"})", ""), "d");
  EXPECT_EQ(read_error("<html>", ""), "");
  EXPECT_EQ(read_error("{\"error\":\"" + std::string(299, 'a') + "é\"}", "").size(), 299U);
}

}  // namespace
}  // namespace stackgate::evaluator
