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

TEST(UpstreamRouting, only_what_was_not_begun_goes_again) {
  struct Row {
    Attempt attempt;
    std::size_t replicas;
    Repeat repeat;
  };
  const std::vector<Row> rows{{{.connected = false}, 2, Repeat::elsewhere},
                              {{.connected = false}, 1, Repeat::no},
                              {{.connected = false, .made = 3}, 9, Repeat::no},
                              {{.sent_to_client = true, .connected = false}, 2, Repeat::no},
                              {{.status = 0}, 2, Repeat::no},  // sent, and no answer
                              {{.status = 500}, 2, Repeat::no},
                              {{.status = 503}, 2, Repeat::no},
                              {{.status = 404}, 2, Repeat::no},
                              {{.status = 404, .names_adapter = true}, 1, Repeat::after_sync},
                              {{.status = 404, .names_adapter = true, .made = 2}, 1, Repeat::no},
                              {{.sent_to_client = true, .status = 404, .names_adapter = true}, 1, Repeat::no}};
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
    const auto out = rewrite(row.body, "m", row.id);
    ASSERT_TRUE(out) << out.error();
    EXPECT_EQ(*out, row.out);
  }
}

TEST(UpstreamRouting, other_bodies_are_refused) {
  for (const std::string_view body :
       {"", "[]", "{}", R"({"model":1})", R"({"model":"a","model":"b"})", R"({"model":"a"}x)"})
    EXPECT_FALSE(rewrite(body, "m")) << body;
}

}  // namespace
}  // namespace stackgate::inference::upstream
