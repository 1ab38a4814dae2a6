#include "services/inference/api/completion_request.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "services/inference/api/context.hpp"
#include "tests/inference/api/request_support.hpp"

namespace stackgate::inference {
namespace {

using Ids = std::vector<TokenId>;

auto completion(std::string_view body) {
  return test::read_body([](const json::Value& root) { return read_completion(root, test::limits); }, body);
}
/// With a model and a prompt, and these members.
auto completion_with(std::string_view members) {
  return completion(fmt::format(R"({{"model":"m","prompt":"p"{}{}}})", members.empty() ? "" : ",", members));
}

TEST(CompletionRequest, defaults) {
  const auto got = completion_with("");
  ASSERT_TRUE(got.has_value());
  const Generation& g = got->generation;
  EXPECT_EQ(g.model, "m");
  EXPECT_EQ(g.peft_name, "");
  EXPECT_EQ(got->prompts, (std::vector<Prompt>{"p"}));
  EXPECT_FALSE(got->echo || g.stream || g.include_usage || g.seed || g.max_tokens || g.log_probs);
  EXPECT_EQ(g.n, 1U);
  EXPECT_EQ(g.best_of, 1U);
  EXPECT_EQ(g.sampling.temperature, 1);
  EXPECT_TRUE(g.text.stop.empty() && g.text.skip_special_tokens && g.add_special_tokens);
  EXPECT_EQ(g.format.kind, ResponseFormat::Kind::text);
}

TEST(CompletionRequest, everything_that_is_honoured) {
  const auto got = completion(
      R"({"model":"m","peft_name":"a","prompt":[[1,2],[3]],"n":2,"best_of":3,"echo":true,"logprobs":5,"max_tokens":0,)"
      R"("temperature":0.5,"top_p":0.9,"top_k":-1,"min_p":0.1,"repetition_penalty":1.5,"frequency_penalty":-2,)"
      R"("presence_penalty":2,"seed":-3,"stop":["a","b"],"stop_token_ids":[4],"include_stop_str_in_output":true,)"
      R"("ignore_eos":true,"skip_special_tokens":false,"logit_bias":{"7":-100},"user":"u","store":true,"metadata":{"a":1},)"
      R"("service_tier":"auto","stream":null,"suffix":null,"add_special_tokens":false,"cache_salt":"s","unknown":[1]})");
  ASSERT_TRUE(got.has_value()) << test::faults(got);
  const Generation& g = got->generation;
  EXPECT_EQ(got->prompts, (std::vector<Prompt>{Ids{1, 2}, Ids{3}}));
  EXPECT_EQ(g.peft_name, "a");
  EXPECT_EQ(g.n, 2U);
  EXPECT_EQ(g.best_of, 3U);
  EXPECT_TRUE(got->echo && !g.add_special_tokens);
  EXPECT_EQ(g.cache_salt, "s");
  EXPECT_EQ(g.log_probs, 5U);
  EXPECT_EQ(g.max_tokens, 0U);
  EXPECT_EQ(g.seed, static_cast<std::uint64_t>(-3));
  EXPECT_EQ(g.sampling.top_k, 0U);
  EXPECT_EQ(g.sampling.frequency_penalty, -2);
  EXPECT_EQ(g.sampling.logit_bias, (std::vector<std::pair<TokenId, float>>{{7, -100}}));
  EXPECT_EQ(g.text.stop, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(g.text.stop_token_ids, Ids{4});
  EXPECT_TRUE(g.text.include_stop && g.text.ignore_eos && !g.text.skip_special_tokens);
}

TEST(CompletionRequest, the_forms_of_a_prompt) {
  EXPECT_EQ(completion(R"({"model":"m","prompt":["a","b"]})")->prompts, (std::vector<Prompt>{"a", "b"}));
  EXPECT_EQ(completion(R"({"model":"m","prompt":[1,499]})")->prompts, (std::vector<Prompt>{Ids{1, 499}}));
}

TEST(CompletionRequest, seeds_of_64_bits) {
  EXPECT_EQ(completion_with(R"("seed":9223372036854775807)")->generation.seed, 9223372036854775807U);
  EXPECT_EQ(completion_with(R"("seed":18446744073709551615)")->generation.seed, UINT64_MAX);
  EXPECT_EQ(completion_with(R"("seed":1.0)")->generation.seed, 1U);
}

TEST(CompletionRequest, the_models_defaults_hold_where_the_request_says_nothing) {
  ApiLimits limits = test::limits;
  limits.defaults = {.temperature = 0.6F, .top_k = 20};
  const auto got = test::read_body([&](const json::Value& root) { return read_completion(root, limits); },
                                   R"({"model":"m","prompt":"p","top_k":0})");
  EXPECT_EQ(got->generation.sampling.temperature, 0.6F);
  EXPECT_EQ(got->generation.sampling.top_k, 0U);
}

struct Wrong {
  std::string_view members, faults;
};

TEST(CompletionRequest, each_fault_by_its_parameter) {
  for (const auto& [members, expected] : std::initializer_list<Wrong>{
           {R"("temperature":2.1)", "temperature: must be a number from 0 to 2\n"},
           {R"("temperature":"1")", "temperature: must be a number from 0 to 2\n"},
           {R"("top_p":0)", "top_p: must be a number from 1e-30 to 1\n"},
           {R"("top_k":-2)", "top_k: must be a whole number: -1 or 0 for all, or how many of the best\n"},
           {R"("n":0)", "n: must be a whole number from 1 to 128\n"},
           {R"("n":129)", "n: must be a whole number from 1 to 128\n"},
           {R"("best_of":21)", "best_of: must be a whole number from 1 to 20\n"},
           {R"("n":3,"best_of":2)", "best_of: is less than \"n\", 3\n"},
           {R"("best_of":2,"stream":true)", "best_of: cannot be chosen from while a stream is sent\n"},
           {R"("logprobs":21)", "logprobs: must be a whole number from 0 to 20\n"},
           {R"("logprobs":true)", "logprobs: must be a whole number from 0 to 20\n"},
           {R"("max_tokens":0)", "max_tokens: asks for no tokens\n"},
           {R"("max_tokens":1001)", "max_tokens: must be a whole number from 0 to 1000\n"},
           {R"("max_tokens":2,"min_tokens":3)", "min_tokens: is more than \"max_tokens\", 2\n"},
           {R"("stop":["a",""])", "stop[1]: must be a text of 1 to 1024 bytes\n"},
           {R"("stop":5)", "stop: must be a text of 1 to 1024 bytes\n"},
           {R"("stop_token_ids":[500])", "stop_token_ids[0]: must be a token id from 0 to 499\n"},
           {R"("logit_bias":{"x":1,"500":1,"3":101})",
            "logit_bias.x: is named by no token id\nlogit_bias.500: is named by no token id\n"
            "logit_bias.3: must be a number from -100 to 100\n"},
           {R"("logit_bias":[])", "logit_bias: must be an object of token id and number\n"},
           {R"("seed":0.5)", "seed: must be a whole number of 64 bits\n"},
           {R"("stream":1)", "stream: must be true or false\n"},
           {R"("stream_options":{})", "stream_options: is given without a stream\n"},
           {R"("stream":true,"stream_options":{"include_usage":1})",
            "stream_options.include_usage: must be true or false\n"},
           {R"("suffix":"x")", "suffix: is not served\n"},
           {R"("cache_salt":"","add_special_tokens":1)",
            "cache_salt: must be a text of 1 to 1024 bytes\nadd_special_tokens: must be true or false\n"},
           {R"("typical_p":0.5,"mirostat":2,"length_penalty":2)",
            "typical_p: is not served\nmirostat: is not served\nlength_penalty: is not served\n"},
           {R"("typical_p":1,"mirostat":0,"length_penalty":1.0)", ""},
           {R"("return_token_ids":true)", "return_token_ids: is not served\n"},
           {R"("messages":[{}],"tools":[{}],"tool_choice":"auto","top_logprobs":2,"max_completion_tokens":5)",
            "messages: is for chats\ntools: is for chats\ntool_choice: is for chats\ntop_logprobs: is for chats\n"
            "max_completion_tokens: is for chats\n"},
           {R"("tools":[],"tool_choice":"none")", ""},
           {R"("guided_json":{"type":"object"})", "guided_json: is not served\n"},
           {R"("use_beam_search":true)", "use_beam_search: is not served\n"},
           {R"("response_format":{"type":"xml"})",
            "response_format.type: must be \"text\", \"json_object\" or \"json_schema\"\n"},
           {R"("response_format":{"type":"json_schema"})",
            "response_format.json_schema.schema: must be a JSON Schema\n"},
       })
    EXPECT_EQ(test::faults(completion_with(members)), expected) << members;
  EXPECT_EQ(test::faults(completion_with(R"("use_beam_search":false,"suffix":"","stop":"","functions":[])")), "");
}

TEST(CompletionRequest, schemas_are_bounded) {
  const std::string large(largest_schema, 'x');
  EXPECT_EQ(test::faults(completion_with(fmt::format(
                R"("response_format":{{"type":"json_schema","json_schema":{{"schema":{{"title":"{}"}}}}}})", large))),
            "response_format.json_schema.schema: is too large\n");
}

TEST(CompletionRequest, all_faults_at_once_in_order) {
  EXPECT_EQ(test::faults(completion(R"({"n":0,"temperature":-1,"echo":"yes"})")),
            "prompt: is missing\nmodel: is missing\nn: must be a whole number from 1 to 128\n"
            "temperature: must be a number from 0 to 2\necho: must be true or false\n");
  EXPECT_EQ(test::faults(completion("[]")), ": must be an object\n");
}

TEST(CompletionRequest, prompts_that_are_none) {
  for (const auto& [prompt, expected] : std::initializer_list<Wrong>{
           {"[]", "prompt: must be a text, a list of texts, a list of token ids, or a list of such lists\n"},
           {"7", "prompt: must be a text, a list of texts, a list of token ids, or a list of such lists\n"},
           {R"(["a",1])", "prompt[1]: must be a text\n"},
           {R"([[1],"a"])", "prompt[1]: must be a list of token ids, as the first one\n"},
           {"[[1],[]]", "prompt[1]: must be a list of at least one token id\n"},
           {"[1,-1]", "prompt[1]: must be a token id from 0 to 499\n"},
           {"[[1],[2,500]]", "prompt[1][1]: must be a token id from 0 to 499\n"},
           {"[1.5]", "prompt[0]: must be a token id from 0 to 499\n"},
       })
    EXPECT_EQ(test::faults(completion(fmt::format(R"({{"model":"m","prompt":{}}})", prompt))), expected) << prompt;
}

TEST(Context, what_is_left) {
  const auto fit = [](std::uint64_t prompt, std::optional<std::uint32_t> max, std::uint32_t otherwise = 0) {
    return fit_context({.prompt_tokens = prompt, .max_tokens = max, .otherwise = otherwise, .context = 100});
  };
  EXPECT_EQ(fit(99, 1), 1U);  // lm-eval's longest prompt
  EXPECT_EQ(fit(100, 0), 0U);
  EXPECT_EQ(fit(60, std::nullopt), 40U);
  EXPECT_EQ(fit(60, std::nullopt, 16), 16U);
  EXPECT_EQ(fit(90, std::nullopt, 16), 10U);
  EXPECT_EQ(test::faults(fit(90, 11)),
            "max_tokens: asks for 11 tokens, and the prompt has 90: this model's context is 100 tokens\n");
  EXPECT_EQ(test::faults(fit(100, std::nullopt)),
            "prompt: has 100 tokens: this model's context is 100 tokens, prompt and answer together\n");
  EXPECT_EQ(test::faults(fit(101, 0)),
            "prompt: has 101 tokens: this model's context is 100 tokens, prompt and answer together\n");
  EXPECT_EQ(test::faults(fit(0, 1)), "prompt: has no tokens\n");
}

}  // namespace
}  // namespace stackgate::inference
