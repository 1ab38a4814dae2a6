#include "services/inference/upstream/plan/routing.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace stackgate::inference::upstream {
namespace {

TEST(UpstreamRouting, the_replica_with_the_adapter_and_the_fewest_requests) {
  struct Row {
    std::vector<ReplicaFacts> replicas;
    std::size_t turn;
    std::optional<std::size_t> chosen;
  };
  const std::vector<Row> rows{{{}, 0, std::nullopt},
                              {{{true, true, 5}, {true, true, 2}}, 0, 1},
                              {{{true, true, 5}, {true, false, 0}}, 0, 0},
                              {{{true, true, 5}, {false, true, 0}}, 0, 0},
                              {{{true, false, 0}, {false, true, 0}}, 0, std::nullopt},
                              {{{true, true, 1}, {true, true, 1}, {true, true, 1}}, 4, 1},
                              {{{true, true, 1}, {true, true, 1}, {true, true, 0}}, 0, 2}};
  for (const Row& row : rows) EXPECT_EQ(choose(row.replicas, row.turn), row.chosen) << &row - rows.data();
}

TEST(UpstreamRouting, a_request_waits_while_a_replica_may_get_its_adapter) {
  struct Row {
    std::vector<ReplicaFacts> replicas;
    Waiting waiting;
  };
  const std::vector<Row> rows{
      {{}, Waiting::give_up},
      {{{.healthy = true, .has_adapter = true}}, Waiting::go},
      {{{.healthy = true}, {.healthy = true, .has_adapter = true, .looked_again = true}}, Waiting::go},
      {{{.healthy = true}}, Waiting::stay},
      {{{.healthy = true, .looked_again = true}}, Waiting::give_up},
      {{{.healthy = true, .looked_again = true}, {.healthy = true}}, Waiting::stay},
      {{{.healthy = true, .looked_again = true}, {.healthy = false, .has_adapter = true}}, Waiting::give_up}};
  for (const Row& row : rows) EXPECT_EQ(waiting(row.replicas), row.waiting) << &row - rows.data();
}

TEST(UpstreamRouting, only_what_was_not_begun_goes_again) {
  struct Row {
    Attempt attempt;
    std::size_t replicas;
    Repeat repeat;
  };
  const std::vector<Row> rows{{{.connected = false}, 2, Repeat::elsewhere},
                              {{.connected = false}, 1, Repeat::no},
                              {{.connected = false, .made = 3}, 3, Repeat::no},
                              {{.connected = false, .made = 3}, 9, Repeat::elsewhere},
                              {{.connected = false, .made = 9}, 9, Repeat::no},
                              {{.sent_to_client = true, .connected = false}, 2, Repeat::no},
                              {{}, 2, Repeat::no},  // an answer, or none to what was sent
                              {{.forgotten = true}, 1, Repeat::after_sync},
                              {{.forgotten = true, .made = 2}, 1, Repeat::no},
                              {{.sent_to_client = true, .forgotten = true}, 1, Repeat::no}};
  for (const Row& row : rows) EXPECT_EQ(repetition(row.attempt, row.replicas), row.repeat) << &row - rows.data();
}

TEST(UpstreamRouting, a_body_changes_in_its_two_names_alone) {
  struct Row {
    std::string_view body, model, out;
  };
  for (const Row& row :
       std::vector<Row>{{R"({"model":"a"})", "a", R"({"model":"a"})"},
                        {R"({"model":"a"})", "b", R"({"model":"b"})"},
                        {R"({ "model" : "a" , "n": 1.50 })", "b\"", R"({ "model" : "b\"" , "n": 1.50 })"},
                        {R"({"peft_name":"x","model":"a"})", "x", R"({"model":"x"})"},
                        {R"({"model":"a","peft_name":"x"})", "x", R"({"model":"x"})"},
                        {R"({"model":"a", "peft_name" : null })", "a", R"({"model":"a" })"},
                        {R"({"model":"a", "peft_name" : "x", "n":1})", "x", R"({"model":"x", "n":1})"},
                        {R"({"mod\u0065l":"a","p\u0065ft_name":"x"})", "x", R"({"mod\u0065l":"x"})"},
                        {R"({"messages":[{"model":"a","peft_name":"x"}],"model":"a"})", "b",
                         R"({"messages":[{"model":"a","peft_name":"x"}],"model":"b"})"}}) {
    const auto out = rewrite(row.body, row.model);
    ASSERT_TRUE(out) << out.error();
    EXPECT_EQ(*out, row.out);
  }
}

TEST(UpstreamRouting, llama_server_gets_the_adapter_by_number_and_nobody_elses) {
  struct Row {
    std::string_view body;
    std::int64_t id;
    std::string_view out;
  };
  for (const Row& row :
       std::vector<Row>{{R"({"model":"a"})", 3, R"({"model":"m","lora":[{"id":3,"scale":1.0}]})"},
                        {R"({"model":"a"})", -1, R"({"model":"m","lora":[]})"},
                        {R"({"lora":[{"id":0}],"model":"a","n":1})", -1, R"({"model":"m","lora":[],"n":1})"},
                        {R"({"model":"a","peft_name":"x","lora":{"a":[1,"}"]}})", 0,
                         R"({"model":"m","lora":[{"id":0,"scale":1.0}]})"},
                        {R"({"model":"a","n":1,"peft_name":"x","lora":7})", 0,
                         R"({"model":"m","lora":[{"id":0,"scale":1.0}],"n":1})"}}) {
    const auto out = rewrite(row.body, "m", by_number(row.id));
    ASSERT_TRUE(out) << out.error();
    EXPECT_EQ(*out, row.out);
  }
}

TEST(UpstreamRouting, sglang_gets_the_adapter_by_name_and_nobody_elses) {
  struct Row {
    std::string_view body, adapter, out;
  };
  for (const Row& row : std::vector<Row>{
           {R"({"model":"a"})", "x", R"({"model":"m","lora_path":"x"})"},
           {R"({"model":"a"})", "", R"({"model":"m"})"},
           {R"({"lora_path":"y","model":"a","n":1})", "", R"({"model":"m","n":1})"},
           {R"({"model":"a","n":1,"lora_path":["y"]})", "x\"", R"({"model":"m","lora_path":"x\"","n":1})"}}) {
    const auto out = rewrite(row.body, "m", by_name(row.adapter));
    ASSERT_TRUE(out) << out.error();
    EXPECT_EQ(*out, row.out);
  }
}

TEST(UpstreamRouting, what_an_engine_says_of_a_model_that_it_does_not_know) {
  EXPECT_TRUE(is_unknown_model(404, ""));
  EXPECT_TRUE(is_unknown_model(400, R"({"message":"The following requested LoRA adapters are not loaded: ['x']"})"));
  EXPECT_FALSE(is_unknown_model(400, R"({"message":"temperature must be at least 0"})"));
  EXPECT_FALSE(is_unknown_model(500, "not loaded"));
}

TEST(UpstreamRouting, other_bodies_are_refused) {
  for (const std::string_view body :
       {"", "[]", "{}", R"({"model":1})", R"({"model":"a","model":"b"})", R"({"model":"a"}x)"})
    EXPECT_FALSE(rewrite(body, "m")) << body;
}

}  // namespace
}  // namespace stackgate::inference::upstream
