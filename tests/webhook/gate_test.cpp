#include "webhook/gate.hpp"

#include <future>
#include <stdexcept>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crds/embedded.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/yaml/parse.hpp"

namespace stackgate::webhook {
namespace {

struct Promised : http::Responder::Sink {
  std::promise<http::Response> promise;
  void send(http::Response&& response) override { promise.set_value(std::move(response)); }
  std::unique_ptr<http::BodyWriter> start(http::Response&&, std::optional<std::uint64_t>) override {
    throw std::logic_error("the gate answers whole");
  }
  std::unique_ptr<http::AsyncBodyWriter> stream(http::Response&&, std::optional<std::uint64_t>) override {
    throw std::logic_error("the gate answers whole");
  }
  void observe(std::shared_ptr<http::AnswerWatcher>) override {}
};

std::string review_of(std::string_view object, std::string_view operation = "CREATE") {
  return fmt::format(
      R"({{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{{"uid":"ab-1","kind":{{"group":"stackgate.dev","version":"v1alpha1","kind":"InferenceService"}},"namespace":"team-a","name":"llm","operation":"{}","userInfo":{{"username":"ada"}},"object":{}}}}})",
      operation, object);
}

std::string sample() {
  auto stream = yaml::parse(crds::minimal_sample(crds::Kind::inference_service));
  return json::to_json(stream.documents.at(0).root);
}

validate::ReferencedObject referred(validate::Presence presence, std::vector<std::string> keys = {}) {
  validate::ReferencedObject out;
  out.presence = presence;
  out.keys = std::move(keys);
  return out;
}

/// Absent in memory; what the API server says is up to the test.
struct Absent : cluster::QuickLookup {
  bool asked_about = false;
  validate::ReferencedObject find(validate::ReferenceKind, std::string_view, std::string_view) override {
    asked_about = true;
    return referred(validate::Presence::absent);
  }
  bool neighbours(std::string_view, std::vector<validate::Neighbour>&) override { return true; }
  bool wants_asking() const override { return asked_about; }
};

struct Server : validate::Lookup {
  std::function<validate::ReferencedObject()> answer;
  validate::ReferencedObject find(validate::ReferenceKind, std::string_view, std::string_view) override {
    return answer();
  }
  bool neighbours(std::string_view, std::vector<validate::Neighbour>&) override { return true; }
};

struct Source : cluster::LookupSource {
  std::function<validate::ReferencedObject()> answer;
  std::unique_ptr<cluster::QuickLookup> quick() override { return std::make_unique<Absent>(); }
  std::unique_ptr<validate::Lookup> asking() override {
    auto lookup = std::make_unique<Server>();
    lookup->answer = answer;
    return lookup;
  }
};

struct GateTest : testing::Test {
  metrics::Registry registry;
  GateMetrics telemetry{registry};
  Source source;
  run::Pool pool{1, 4};

  http::Response post(Gate& gate, std::string_view path, std::string_view body,
                      std::string_view type = "application/json", std::string_view method = "POST") {
    http::Request request;
    request.method = method;
    request.path = path;
    request.headers = {{"Content-Type", type}};
    request.body = body;
    auto sink = std::make_shared<Promised>();
    auto answer = sink->promise.get_future();
    gate.handle(request, http::Responder(sink));
    return answer.get();
  }
  http::Response post(std::string_view path, std::string_view body, std::string_view type = "application/json",
                      std::string_view method = "POST") {
    Gate gate({}, nullptr, nullptr, telemetry);
    return post(gate, path, body, type, method);
  }
};

bool allowed(const http::Response& response) {
  json::Document document;
  auto root = json::parse(response.body, document);
  EXPECT_TRUE(root) << response.body;
  EXPECT_EQ(root->find("response")->find("uid")->string(), "ab-1");
  return root->find("response")->find("allowed")->boolean();
}

TEST_F(GateTest, AGoodReviewIsAllowedOnBothPaths) {
  const std::string body = review_of(sample());
  EXPECT_TRUE(allowed(post("/validate", body)));
  EXPECT_TRUE(allowed(post("/early", body)));
  EXPECT_THAT(registry.render(),
              testing::HasSubstr("stackgate_gate_reviews_total{stage=\"early\",kind=\"InferenceService\","
                                 "operation=\"CREATE\",verdict=\"allowed\"} 1"));
}

TEST_F(GateTest, ABadReviewIsAnsweredWithHttp200AndADenial) {
  const http::Response response = post("/validate", review_of(R"({"spec":{}})"));
  EXPECT_EQ(response.status, 200);
  EXPECT_FALSE(allowed(response));
}

TEST_F(GateTest, WhatIsNoReviewIsRefusedInHttp) {
  EXPECT_EQ(post("/nowhere", "{}").status, 404);
  EXPECT_EQ(post("/validate", "{}", "application/json", "GET").status, 405);
  EXPECT_EQ(post("/validate", "{}", "application/yaml").status, 415);
  EXPECT_EQ(post("/validate", "{", "application/json; charset=utf-8").status, 400);
  EXPECT_EQ(post("/validate", "{}").status, 400);
  EXPECT_EQ(post("/validate", R"({"a":1,"a":2})").status, 400);
  const http::Response broken = post("/validate", R"({"request":{"uid":"ab-1","kind":)");
  EXPECT_EQ(broken.status, 400);
  EXPECT_THAT(broken.body, testing::HasSubstr("(uid ab-1)"));
  EXPECT_THAT(registry.render(), testing::HasSubstr("stackgate_gate_refused_requests_total{reason=\"not_json\"} 3"));
}

TEST_F(GateTest, WhatMemoryDoesNotKnowIsAskedOnThePool) {
  source.answer = [] { return referred(validate::Presence::present, {"REGISTRY_API_KEY"}); };
  Gate gate({}, &source, &pool, telemetry);
  EXPECT_TRUE(allowed(post(gate, "/validate", review_of(sample()))));
  EXPECT_THAT(registry.render(), testing::HasSubstr("asked=\"true\""));
}

TEST_F(GateTest, AFullPoolIsAnInternalErrorWithTheUid) {
  source.answer = [] { return referred(validate::Presence::present, {"REGISTRY_API_KEY"}); };
  run::Pool full{1, 0};
  Gate gate({}, &source, &full, telemetry);
  const http::Response response = post(gate, "/validate", review_of(sample()));
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.body, "too many reviews wait for the API server (uid ab-1)\n");
  EXPECT_THAT(registry.render(), testing::HasSubstr("stackgate_gate_refused_requests_total{reason=\"too_busy\"} 1"));
}

TEST_F(GateTest, TheMediaTypeCountsWithoutItsCaseAndParameters) {
  for (const char* type : {"application/json", "application/json ; charset=utf-8", "Application/JSON"})
    EXPECT_TRUE(allowed(post("/validate", review_of(sample()), type))) << type;
  for (const char* type : {"", "application/jsonp", "text/json", "application/review+json"})
    EXPECT_EQ(post("/validate", review_of(sample()), type).status, 415) << type;
}

TEST_F(GateTest, ARuleThatThrowsIsAnInternalErrorWithTheUid) {
  source.answer = []() -> validate::ReferencedObject { throw std::runtime_error("rule fell over"); };
  Gate gate({}, &source, &pool, telemetry);
  const http::Response response = post(gate, "/validate", review_of(sample()));
  EXPECT_EQ(response.status, 500);
  EXPECT_THAT(response.body, testing::AllOf(testing::HasSubstr("rule fell over"), testing::HasSubstr("ab-1")));
}

}  // namespace
}  // namespace stackgate::webhook
