#include "services/inference/api/failures.hpp"

#include <gtest/gtest.h>

#include "services/kit/web/errors.hpp"

namespace stackgate::inference {
namespace {

std::string told(const std::expected<std::string, web::Failure>& adapter) {
  if (adapter) return *adapter;
  return std::to_string(adapter.error().status) + " " + adapter.error().message;
}

TEST(Failures, which_adapter_answers) {
  const std::vector<std::string> base{"base", "other-name"};
  const ServedNames served{base, [](std::string_view name) {
                             if (name == "broken") return AdapterState::failing;
                             return name == "a" || name == "b" ? AdapterState::served : AdapterState::unknown;
                           }};
  const auto chosen = [&](std::string_view model, std::string_view peft = "") {
    return told(adapter_for(model, peft, served));
  };
  EXPECT_EQ(chosen("base"), "");
  EXPECT_EQ(chosen("other-name", "base"), "");
  EXPECT_EQ(chosen("a"), "a");
  EXPECT_EQ(chosen("base", "a"), "a");
  EXPECT_EQ(chosen("a", "a"), "a");
  EXPECT_EQ(chosen("a", "b"), "400 the body has 1 fault");
  EXPECT_EQ(chosen("a", "base"), "400 the body has 1 fault");
  EXPECT_EQ(chosen("x"), "404 The model `x` does not exist.");
  EXPECT_EQ(chosen("x", "a"), "404 The model `x` does not exist.");
  EXPECT_EQ(chosen("base", "x"), "404 The model `x` does not exist.");
  EXPECT_EQ(chosen("base", "broken"),
            "503 The adapter `broken` cannot be loaded at present; GET /v1/adapters tells why.");
  EXPECT_EQ(chosen("broken"), "503 The adapter `broken` cannot be loaded at present; GET /v1/adapters tells why.");
}

TEST(Failures, in_openais_form) {
  EXPECT_EQ(web::render(no_such_model("x", "model"), web::Dialect::openai).body,
            R"({"error":{"message":"The model `x` does not exist.\nmodel: is neither the base model nor an adapter; )"
            R"(GET /v1/models lists the names [model-unknown]","type":"NotFoundError","param":"model","code":404}})");
  const web::Failure faults =
      bad_request({{.rule = "body-type", .path = "n", .problem = "must be a number", .fix = "write one"},
                   {.rule = "body-missing", .path = "model", .problem = "is missing", .fix = "write it"}});
  EXPECT_EQ(
      web::render(faults, web::Dialect::openai).body,
      R"({"error":{"message":"the body has 2 faults\nn: must be a number; write one [body-type]\nmodel: is missing; )"
      R"(write it [body-missing]","type":"invalid_request_error","param":"n","code":400}})");
  EXPECT_EQ(
      error_event({.status = 503, .message = "the server stops"}),
      "data: {\"error\":{\"message\":\"the server stops\",\"type\":\"server_error\",\"param\":null,\"code\":503}}\n\n");
}

}  // namespace
}  // namespace stackgate::inference
