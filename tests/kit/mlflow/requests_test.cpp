#include "services/kit/mlflow/requests.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace stackgate::mlflow {
namespace {

TEST(Requests, are_those_of_the_documents) {
  const std::vector<Pair> tags{{"job_id", "cust-1"}}, params{{"lora_rank", "8"}, {"long", std::string(600, 'x')}};
  const struct {
    Call call;
    std::string method, path, body;
  } cases[] = {
      {find_experiment("a b/ü"), "GET", "/api/2.0/mlflow/experiments/get-by-name?experiment_name=a%20b%2F%C3%BC", ""},
      {create_experiment("a \"b\""), "POST", "/api/2.0/mlflow/experiments/create", R"({"name":"a \"b\""})"},
      {create_run("7", "first", tags, 123), "POST", "/api/2.0/mlflow/runs/create",
       R"({"experiment_id":"7","start_time":123,"run_name":"first","tags":[{"key":"job_id","value":"cust-1"}]})"},
      {create_run("7", "", {}, 123), "POST", "/api/2.0/mlflow/runs/create",
       R"({"experiment_id":"7","start_time":123,"tags":[]})"},
      {log_params("r1", params), "POST", "/api/2.0/mlflow/runs/log-batch",
       R"({"run_id":"r1","params":[{"key":"lora_rank","value":"8"},{"key":"long","value":")" + std::string(500, 'x') +
           R"("}]})"},
      {log_tags("r1", tags), "POST", "/api/2.0/mlflow/runs/log-batch",
       R"({"run_id":"r1","tags":[{"key":"job_id","value":"cust-1"}]})"},
      {log_metrics("r1", std::vector<Metric>{{"train_loss", 0.5, 99, 3},
                                             {"train_loss", std::numeric_limits<double>::quiet_NaN(), 99, 4},
                                             {"train_loss", -std::numeric_limits<double>::infinity(), 99, 5}}),
       "POST", "/api/2.0/mlflow/runs/log-batch",
       R"({"run_id":"r1","metrics":[{"key":"train_loss","value":0.5,"timestamp":99,"step":3},)"
       R"({"key":"train_loss","value":"NaN","timestamp":99,"step":4},)"
       R"({"key":"train_loss","value":"-Infinity","timestamp":99,"step":5}]})"},
      {update_run("r1", Status::running), "POST", "/api/2.0/mlflow/runs/update",
       R"({"run_id":"r1","status":"RUNNING"})"},
      {update_run("r1", Status::killed, 456), "POST", "/api/2.0/mlflow/runs/update",
       R"({"run_id":"r1","status":"KILLED","end_time":456})"},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(each.call.method, each.method);
    EXPECT_EQ(each.call.path, each.path);
    EXPECT_EQ(each.call.body, each.body);
    EXPECT_EQ(each.call.content_type, "application/json");
  }
  EXPECT_EQ(log_params("r", std::vector<Pair>(250, {"a", "b"})).body,
            log_params("r", std::vector<Pair>(100, {"a", "b"})).body);
}

TEST(Answers, have_an_id_or_a_fault) {
  EXPECT_EQ(read_experiment(R"({"experiment":{"experiment_id":"12","name":"a"}})"), "12");
  EXPECT_EQ(read_experiment(R"({"experiment_id":"13"})"), "13");
  EXPECT_EQ(read_run(R"({"run":{"info":{"run_id":"abc","status":"RUNNING"},"data":{}}})"), "abc");
  for (const std::string_view wrong : {"", "<html>", "{}", "[]", "7", R"({"run":7})",
                                       R"({"run":{"info":{"run_id":5}}})", R"({"run":{"info":{"run_id":""}}})"})
    EXPECT_FALSE(read_run(wrong)) << wrong;
  EXPECT_FALSE(read_run(R"({"run":{"info":{"run_id":")" + std::string(300, 'a') + R"("}}})"));
  EXPECT_FALSE(read_run(std::string(100, '[')));
  EXPECT_EQ(read_run("{}").error(), "it answers without \"run.info.run_id\"");
}

TEST(Answers, of_refusals_have_a_code_and_words_of_one_line) {
  const Refusal refusal = read_refusal("{\"error_code\":\"RESOURCE_DOES_NOT_EXIST\",\"message\":\"No\\nRun\"}");
  EXPECT_EQ(refusal.code, "RESOURCE_DOES_NOT_EXIST");
  EXPECT_EQ(refusal.message, "No Run");
  EXPECT_EQ(read_refusal("<html>").code, "");
  EXPECT_EQ(read_refusal("{\"message\":\"" + std::string(5000, 'a') + "\"}").message.size(), 300U);
}

TEST(MlflowRequests, find_the_run_of_a_tag) {
  EXPECT_EQ(find_run("7", "customization", "cust-1").body,
            R"({"experiment_ids":["7"],"filter":"tags.customization = 'cust-1'","max_results":1})");
  EXPECT_EQ(read_found_run(R"({"runs":[{"info":{"run_id":"r"}}]})"), "r");
  EXPECT_EQ(read_found_run("{}"), "");
  EXPECT_FALSE(read_found_run(R"({"runs":[{"info":{}}]})"));
  EXPECT_FALSE(read_found_run("no JSON"));
}

}  // namespace
}  // namespace stackgate::mlflow
