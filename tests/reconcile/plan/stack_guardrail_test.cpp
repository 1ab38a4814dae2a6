#include <gtest/gtest.h>

#include "services/kit/json/parse.hpp"
#include "tests/reconcile/plan/stack_plans.hpp"

namespace stackgate::reconcile::tests {
namespace stack_guardrail {

constexpr crds::Kind kind = crds::Kind::stack_guardrail;

TEST(StackGuardrailPlan, RailsComeFromAConfigMap) {
  const Planned planned = plan_of(minimal(kind));
  EXPECT_EQ(planned.volume("config-store")["configMap"]["name"], "guardrail-config");
  EXPECT_EQ(planned.mount("config-store"),
            Tree::parse(R"({"name":"config-store","mountPath":"/config-store","readOnly":true})"));
  EXPECT_EQ(planned.variable("STACKGATE_CONFIG_STORE"), "/config-store");
}

/// The annotation of the pods by which they restart, when the objects have this content.
Tree inputs_annotation_with(std::string_view rails, std::string_view key) {
  std::vector<InputFacts> inputs;
  const std::string spec = minimal(kind, "spec: {nimEndpoint: {apiKeySecret: hosted}}")["spec"].dump();
  json::Document document;
  inputs = inputs_of(kind, json::parse(spec, document).value());
  for (InputFacts& each : inputs) each.content_hash = each.type == ChildType::secret ? key : rails;
  EXPECT_EQ(inputs.size(), 2U);
  World world;
  world.observed.inputs = inputs;
  const Planned planned = plan_of(minimal(kind, "spec: {nimEndpoint: {apiKeySecret: hosted}}"), world);
  return planned.child(ChildType::deployment,
                       "guardrail")["spec"]["template"]["metadata"]["annotations"]["stackgate.dev/inputs"];
}

TEST(StackGuardrailPlan, ChangedRailsRestartNoPodAndAChangedKeyDoes) {
  const Tree before = inputs_annotation_with("a", "a");
  EXPECT_TRUE(before.is_string());
  EXPECT_EQ(inputs_annotation_with("b", "a"), before) << "the server reads them again, and keeps what compiled last";
  EXPECT_NE(inputs_annotation_with("a", "b"), before);
}

TEST(StackGuardrailPlan, OrFromAClaimThatIsReadOnly) {
  const std::string_view patch =
      "spec: {configStore: {configMap: null, pvc: {create: true, size: 1Gi, volumeAccessMode: ReadWriteOnce}}}";
  const Planned planned = plan_of(minimal(kind, patch));
  EXPECT_EQ(planned.volume("config-store")["persistentVolumeClaim"],
            Tree::parse(R"({"claimName":"guardrail-pvc","readOnly":true})"))
      << "a claim without a name is mounted by the one it is made under";
  EXPECT_EQ(planned.mount("config-store")["readOnly"], true);
  EXPECT_FALSE(planned.child(ChildType::persistent_volume_claim, "guardrail-pvc").is_null());
  EXPECT_EQ(planned.child(ChildType::deployment, "guardrail")["spec"]["strategy"]["rollingUpdate"]["maxSurge"], 0)
      << "a new pod may be placed on another node, where it cannot mount the claim";
}

TEST(StackGuardrailPlan, TheEndpointAndItsKey) {
  EXPECT_EQ(plan_of(minimal(kind)).variable("STACKGATE_INFERENCE_URL"), "http://llm:8000/v1");
  EXPECT_TRUE(plan_of(minimal(kind)).variable("INFERENCE_ENDPOINT_API_KEY").is_null());
  const auto key = [](std::string_view patch) {
    const Planned planned = plan_of(minimal(kind, "spec: {nimEndpoint: {" + std::string(patch) + "}}"));
    return planned.variable("INFERENCE_ENDPOINT_API_KEY")["secretKeyRef"];
  };
  EXPECT_EQ(key("apiKeySecret: hosted"), Tree::parse(R"({"name":"hosted","key":"INFERENCE_ENDPOINT_API_KEY"})"));
  EXPECT_EQ(key("apiKeySecret: hosted, apiKeyKey: k"), Tree::parse(R"({"name":"hosted","key":"k"})"));
}

}  // namespace stack_guardrail
}  // namespace stackgate::reconcile::tests
