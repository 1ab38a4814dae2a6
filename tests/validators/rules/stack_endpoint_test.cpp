#include <gtest/gtest.h>

#include "tests/validators/rules/rule_cases.hpp"
#include "validators/rule_ids.hpp"

namespace stackgate::validate::tests {
namespace stack_endpoint_test {

using crds::Kind;

std::string datastore(std::string_view url) { return "spec: {datastore: {endpoint: '" + std::string(url) + "'}}"; }
std::string base_url(std::string_view url) { return "spec: {nimEndpoint: {baseURL: '" + std::string(url) + "'}}"; }
std::string vectors(std::string_view url) { return "spec: {vectorDB: {endpoint: '" + std::string(url) + "'}}"; }

std::string fix_of(const Rule& rule, Kind kind, std::string_view patch) {
  const Findings found = of_rule(review_of(kind, patch), rule);
  return found.size() == 1 ? found[0].fix : all_lines(found);
}

TEST(EndpointRules, PathsAreAppendedToAnEndpoint) {
  expect_rule(rule::endpoint_query, Kind::stack_entitystore,
              {{datastore("http://datastore:8000?a=b"), {"spec.datastore.endpoint"}},
               {datastore("http://datastore:8000/x#y"), {"spec.datastore.endpoint"}},
               {datastore("http://datastore:8000/x/"), {}}});
  EXPECT_EQ(fix_of(rule::endpoint_query, Kind::stack_entitystore, datastore("http://d:8000/x?token=1")),
            "write the URL up to its path: \"http://d:8000/x\"");
  EXPECT_EQ(fix_of(rule::endpoint_query, Kind::stack_entitystore, datastore("http://d:8000?x")),
            "write the URL up to its path: \"http://d:8000\"");
}

TEST(EndpointRules, LocalhostIsThePodItself) {
  expect_rule(rule::endpoint_loopback, Kind::stack_entitystore,
              {{datastore("http://localhost:8000"), {"spec.datastore.endpoint"}},
               {datastore("http://LOCALHOST"), {"spec.datastore.endpoint"}},
               {datastore("http://store.localhost."), {"spec.datastore.endpoint"}},
               {datastore("http://127.0.0.1:8000"), {"spec.datastore.endpoint"}},
               {datastore("http://127.9.9.9:8000"), {"spec.datastore.endpoint"}},
               {datastore("http://0.0.0.0:8000"), {"spec.datastore.endpoint"}},
               {datastore("http://[::1]:8000"), {"spec.datastore.endpoint"}},
               {datastore("http://[::]:8000"), {"spec.datastore.endpoint"}},
               {datastore("http://[::2]:8000"), {}},
               {datastore("http://128.0.0.1:8000"), {}},
               {datastore("http://localhost.example.com"), {}},
               {datastore("http://mylocalhost"), {}}});
}

TEST(EndpointRules, AWorkloadIsNotItsOwnBackEnd) {
  expect_rule(rule::endpoint_own_service, Kind::stack_guardrail,
              {{base_url("http://guardrail:8000/v1"), {"spec.nimEndpoint.baseURL"}},
               {base_url("http://GUARDRAIL/v1"), {"spec.nimEndpoint.baseURL"}},
               {base_url("http://guardrail.default/v1"), {"spec.nimEndpoint.baseURL"}},
               {base_url("http://guardrail.default.svc/v1"), {"spec.nimEndpoint.baseURL"}},
               {base_url("http://guardrail.default.svc.cluster.local:8000/v1"), {"spec.nimEndpoint.baseURL"}},
               {base_url("http://guardrail.other.svc/v1"), {}},
               {base_url("http://guardrail.another.svc/v1"), {}},
               {base_url("http://guardrail.defaults/v1"), {}},
               {base_url("http://guardrail.example.com/v1"), {}},
               {base_url("http://guardrails/v1"), {}},
               {base_url("http://my-guardrail/v1"), {}}});
}

TEST(EndpointRules, DatastoreAndEntitystoreAreTwoAddresses) {
  expect_rule(rule::endpoints_identical, Kind::stack_customizer,
              {{"spec: {entitystore: {endpoint: 'http://datastore:8000'}}", {"spec.entitystore.endpoint"}},
               {"spec: {entitystore: {endpoint: 'http://DATASTORE:8000/'}}", {"spec.entitystore.endpoint"}},
               {"spec: {entitystore: {endpoint: 'http://datastore:8001'}}", {}},
               {"spec: {entitystore: {endpoint: 'http://datastore:8000/entities'}}", {}}});
  expect_rule(
      rule::endpoints_identical, Kind::stack_evaluator,
      {{"spec: {entitystore: {endpoint: 'http://datastore:8000'}}", {"spec.entitystore.endpoint"}}, {"{}", {}}});
}

TEST(EndpointRules, OnlyTheEvaluatorReadsBelowV1Hf) {
  expect_rule(rule::datastore_endpoint_suffix, Kind::stack_entitystore,
              {{datastore("http://datastore:8000/v1/hf"), {"spec.datastore.endpoint"}},
               {datastore("http://datastore:8000/v1/hf/"), {"spec.datastore.endpoint"}},
               {datastore("http://datastore:8000/v1"), {}},
               {datastore("http://datastore:8000/hf"), {}}});
  expect_rule(rule::datastore_endpoint_suffix, Kind::stack_customizer,
              {{datastore("http://datastore:8000/x/v1/hf"), {"spec.datastore.endpoint"}}, {"{}", {}}});
  EXPECT_EQ(fix_of(rule::datastore_endpoint_suffix, Kind::stack_customizer, datastore("http://d:8000/x/v1/hf/")),
            "write \"http://d:8000/x\"");
}

TEST(EndpointRules, TheEvaluatorsDatastoreEndsInV1Hf) {
  expect_rule(rule::evaluator_datastore_suffix, Kind::stack_evaluator,
              {{datastore("http://datastore:8000/v1/hf"), {}},
               {datastore("http://datastore:8000/x/v1/hf"), {}},
               {datastore("http://datastore:8000"), {"spec.datastore.endpoint"}},
               {datastore("http://datastore:8000/v1/hf/"), {}},
               {datastore("http://datastore:8000/v1/hf//"), {"spec.datastore.endpoint"}},
               {datastore("http://datastore:8000/v1/HF"), {"spec.datastore.endpoint"}},
               {datastore("http://datastore:8000/v1/hf/api"), {"spec.datastore.endpoint"}}});
  const auto fix = [](std::string_view url) {
    return fix_of(rule::evaluator_datastore_suffix, Kind::stack_evaluator, datastore(url));
  };
  EXPECT_EQ(fix("http://d:8000"), "write \"http://d:8000/v1/hf\"");
  EXPECT_EQ(fix("http://d:8000/"), "write \"http://d:8000/v1/hf\"");
  EXPECT_EQ(fix("http://d:8000/v1"), "write \"http://d:8000/v1/hf\"");
  EXPECT_EQ(fix("http://d:8000/v1/hf/api/x"), "write \"http://d:8000/v1/hf\"");
  EXPECT_EQ(fix("http://d:8000/V1"), "write \"http://d:8000/v1/hf\"");
  EXPECT_EQ(fix("http://d:8000/v1/HF"), "write /v1/hf in lower case: \"http://d:8000/v1/hf\"");
  EXPECT_EQ(fix("http://d/" + std::string(200, 'd')), "let its path end in /v1/hf");
}

TEST(EndpointRules, TheGuardrailsBaseUrlEndsInV1) {
  expect_rule(rule::guardrail_base_url, Kind::stack_guardrail,
              {{base_url("http://llm:8000/v1"), {}},
               {base_url("https://inference.example.com/openai/v1"), {}},
               {base_url("http://llm:8000"), {"spec.nimEndpoint.baseURL"}},
               {base_url("http://llm:8000/v1/"), {}},
               {base_url("http://llm:8000/v1//"), {"spec.nimEndpoint.baseURL"}},
               {base_url("http://llm:8000/V1"), {"spec.nimEndpoint.baseURL"}},
               {base_url("http://llm:8000/v2"), {"spec.nimEndpoint.baseURL"}},
               {base_url("http://llm:8000/v1/chat/completions"), {"spec.nimEndpoint.baseURL"}}});
  const auto fix = [](std::string_view url) {
    return fix_of(rule::guardrail_base_url, Kind::stack_guardrail, base_url(url));
  };
  EXPECT_EQ(fix("http://llm:8000"), "write \"http://llm:8000/v1\"");
  EXPECT_EQ(fix("http://llm:8000/v1/chat/completions"), "write \"http://llm:8000/v1\"");
  EXPECT_EQ(fix("http://llm:8000/V1/chat/completions"), "write \"http://llm:8000/v1\"");
  EXPECT_EQ(fix("http://llm:8000/V1"), "write /v1 in lower case: \"http://llm:8000/v1\"");
  EXPECT_EQ(fix("http://llm:8000/A/V1/"), "write /v1 in lower case: \"http://llm:8000/A/v1\"");
  EXPECT_EQ(fix("http://llm:8000/v1//"), "write \"http://llm:8000/v1\"");
  EXPECT_EQ(fix("http://llm:8000/v1/x/v1//"), "write \"http://llm:8000/v1/x/v1\"");
}

TEST(EndpointRules, AVectorDatabaseIsReachedByHttpOrPostgresql) {
  expect_rule(rule::vector_db_endpoint, Kind::stack_evaluator,
              {{vectors("postgresql://pgvector:5432/vectors"), {}},
               {vectors("postgres://pgvector/vectors"), {}},
               {vectors("http://milvus:19530"), {}},
               {vectors("postgresql://pgvector:port/vectors"), {"spec.vectorDB.endpoint"}},
               {vectors("postgresql://pg_vector_/vectors"), {"spec.vectorDB.endpoint"}}});
  expect_rule(rule::url_user_info, Kind::stack_evaluator,
              {{vectors("postgresql://user:secret@pgvector:5432/vectors"), {"spec.vectorDB.endpoint"}},
               {vectors("http://user:secret@milvus"), {"spec.vectorDB.endpoint"}}});
}

TEST(EndpointRules, AFindingNeverShowsAPasswordInAUrl) {
  for (const std::string_view url : {"http://user:hunter2@d:8000", "http://hunter2@d:8000?x", "http://u:hunter2@",
                                     "postgresql://u:hunter2@d:x/y", "http://u:hunter2@localhost/v1/hf"})
    for (const auto& [kind, patch] :
         {std::pair(Kind::stack_entitystore, datastore(url)), std::pair(Kind::stack_evaluator, vectors(url)),
          std::pair(Kind::stack_evaluator, datastore(url)), std::pair(Kind::stack_guardrail, base_url(url)),
          std::pair(Kind::stack_customizer, datastore(url))}) {
      const Findings findings = review_of(kind, patch);
      EXPECT_TRUE(has_errors(findings)) << url;
      EXPECT_EQ(all_lines(findings).find("hunter2"), std::string::npos) << all_lines(findings);
    }
}

}  // namespace stack_endpoint_test
}  // namespace stackgate::validate::tests
