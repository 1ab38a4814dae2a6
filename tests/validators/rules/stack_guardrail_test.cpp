#include <gtest/gtest.h>

#include "tests/validators/rules/rule_cases.hpp"
#include "validators/rule_ids.hpp"

namespace stackgate::validate::tests {
namespace stack_guardrail_test {

constexpr auto kind = crds::Kind::stack_guardrail;

TEST(StackGuardrailRules, AConfigurationStoreIsExactlyOne) {
  expect_rule(rule::configstore_exactly_one, kind,
              {{"{}", {}},
               {"spec: {configStore: {configMap: null, pvc: {name: rails}}}", {}},
               {"spec: {configStore: {pvc: {name: rails}}}", {"spec.configStore"}},
               {"spec: {configStore: {configMap: null}}", {"spec.configStore"}}});
}

TEST(StackGuardrailRules, AKeyNameNeedsItsSecret) {
  expect_rule(
      rule::guardrail_key_without_secret, kind,
      {{"spec: {nimEndpoint: {apiKeyKey: KEY}}", {"spec.nimEndpoint.apiKeyKey"}},
       {"spec: {nimEndpoint: {apiKeyKey: KEY, apiKeySecret: hosted}}", {}},
       {"spec: {nimEndpoint: {apiKeySecret: hosted}}", {}},
       {"spec: {nimEndpoint: {apiKeyKey: INFERENCE_ENDPOINT_API_KEY}}", {}},  // the API server writes the default
       {"{}", {}}});
}

TEST(StackGuardrailRules, AnApiKeyLeavesTheClusterEncryptedOnly) {
  const auto endpoint = [](std::string_view url) {
    return "spec: {nimEndpoint: {baseURL: '" + std::string(url) + "', apiKeySecret: hosted}}";
  };
  const std::string place = "spec.nimEndpoint.baseURL";
  expect_rule(rule::guardrail_key_over_http, kind,
              {{endpoint("http://inference.example.com/v1"), {place}},
               {endpoint("http://10.1.2.3/v1"), {place}},
               {endpoint("http://[fd00::1]/v1"), {place}},
               {endpoint("https://inference.example.com/v1"), {}},
               {endpoint("http://llm:8000/v1"), {}},
               {endpoint("http://llm.models.svc:8000/v1"), {}},
               {endpoint("http://llm.models.svc.cluster.local:8000/v1"), {}},
               {"spec: {nimEndpoint: {baseURL: 'http://inference.example.com/v1'}}", {}}});
}

TEST(StackGuardrailRules, ReplicasMountOneStore) {
  const auto store = [](std::string_view mode) {
    return "spec: {replicas: 2, configStore: {configMap: null, pvc: {create: true, size: 1Gi, volumeAccessMode: " +
           std::string(mode) + "}}}";
  };
  const std::string place = "spec.configStore.pvc.volumeAccessMode";
  expect_rule(rule::replicas_share_volume, kind,
              {{store("ReadWriteOnce"), {place}}, {store("ReadWriteMany"), {}}, {store("ReadOnlyMany"), {}}});
  expect_rule(rule::replicas_exclusive_volume, kind, {{store("ReadWriteOncePod"), {place}}});
}

}  // namespace stack_guardrail_test
}  // namespace stackgate::validate::tests
