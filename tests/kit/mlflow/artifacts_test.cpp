#include "services/kit/mlflow/artifacts.hpp"

#include <gtest/gtest.h>

namespace stackgate::mlflow {
namespace {

TEST(Artifacts, have_a_root_where_the_server_writes_them_itself) {
  const struct {
    std::string uri, root, problem;
  } cases[] = {
      {"mlflow-artifacts:/1/abc/artifacts", "1/abc/artifacts", ""},
      {"mlflow-artifacts:///1//abc/artifacts/", "1/abc/artifacts", ""},
      {"mlflow-artifacts:1/abc", "1/abc", ""},
      {"mlflow-artifacts:/my%20team/50%/ü#?", "my%20team/50%25/%C3%BC%23%3F", ""},
      {"mlflow-artifacts://other:5000/1/abc", "", "at another server"},
      {"mlflow-artifacts:/1/../2", "", "no path leads"},
      {"mlflow-artifacts:/1/%2e%2e/2", "", "no path leads"},
      {"mlflow-artifacts:/1/./2", "", "no path leads"},
      {"mlflow-artifacts:/1%2f2", "", "no path leads"},
      {"mlflow-artifacts:/1%002", "", "no path leads"},
      {"mlflow-artifacts:/", "", "in one folder"},
      {"s3://bucket/1/abc", "", "at s3:, and it writes only those at mlflow-artifacts:"},
      {"ftp://me:word@host/1", "", "at ftp:,"},
      {"file:/mnt/1", "", "at file:,"},
      {"/mnt/1", "", "at file:,"},
      {"", "", "names no place"},
  };
  for (const auto& each : cases) {
    const auto root = artifact_root(each.uri);
    const std::string problem = root ? "" : root.error();
    EXPECT_EQ(root.value_or(""), each.root) << each.uri;
    EXPECT_EQ(problem.empty(), each.problem.empty()) << each.uri;
    EXPECT_NE(problem.find(each.problem), std::string::npos) << each.uri << ": " << problem;
    EXPECT_EQ(problem.find("word"), std::string::npos) << "a password";
  }
}

TEST(Artifacts, are_put_below_the_root_as_bytes) {
  const Call call = put_artifact("1/abc/artifacts", "adapter/a b.json", "\0\1");
  EXPECT_EQ(call.method, "PUT");
  EXPECT_EQ(call.path, "/api/2.0/mlflow-artifacts/artifacts/1/abc/artifacts/adapter/a%20b.json");
  EXPECT_EQ(call.content_type, "application/octet-stream");
  EXPECT_EQ(put_artifact("1", "a", "text").body, "text");
  EXPECT_EQ(get_run("r/1").path, "/api/2.0/mlflow/runs/get?run_id=r%2F1");
  EXPECT_EQ(get_run("r").method, "GET");
}

TEST(Artifacts, are_where_the_answer_says) {
  EXPECT_EQ(read_artifact_uri(R"({"run":{"info":{"run_id":"r","artifact_uri":"s3://b"},"data":{}}})"), "s3://b");
  EXPECT_EQ(read_artifact_uri(R"({"run":{"info":{"run_id":"r"}}})"), "");
  EXPECT_EQ(read_artifact_uri(R"({"run":{"info":{"artifact_uri":7}}})"), "");
  for (const std::string_view wrong : {"", "<html>", "{}", "[]", R"({"run":7})", R"({"run":{}})"})
    EXPECT_FALSE(read_artifact_uri(wrong)) << wrong;
}

TEST(Artifacts, a_server_without_the_proxy_says_so) {
  const std::string_view words = "Endpoint: … disabled due to the mlflow server running with `--no-serve-artifacts`.";
  EXPECT_TRUE(has_no_proxy(503, words));
  EXPECT_FALSE(has_no_proxy(503, "busy"));
  EXPECT_FALSE(has_no_proxy(500, words));
}

}  // namespace
}  // namespace stackgate::mlflow
