#include <gmock/gmock.h>

#include "crds/embedded.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/yaml/parse.hpp"
#include "tests/cli/run_command.hpp"

namespace stackgate {
namespace {

using test::Ran;
using test::run;
using ::testing::HasSubstr;
using ::testing::Not;

std::string sample(crds::Kind kind) { return std::string(crds::minimal_sample(kind)); }

TEST(PlanCommand, shows_every_child_as_a_document) {
  const Ran ran = run({"plan", "-n", "team", "-"}, sample(crds::Kind::inference_service));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  const yaml::Stream stream = yaml::parse(ran.out);
  EXPECT_FALSE(stream.failed) << stream.error.message;
  EXPECT_EQ(stream.documents.size(), 5U);
  EXPECT_THAT(ran.out, HasSubstr("---\n# of InferenceService llm\napiVersion: apps/v1\nkind: Deployment\n"));
  EXPECT_THAT(ran.out, HasSubstr("  namespace: team\n"));
}

TEST(PlanCommand, json_is_a_list_that_kubectl_takes) {
  const Ran ran = run({"plan", "-o", "json", "-"}, sample(crds::Kind::inference_service));
  json::Document document;
  const auto root = json::parse(ran.out, document);
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(root->find("kind")->string(), "List");
  EXPECT_EQ(root->find("items")->items().size(), 5U);
}

TEST(PlanCommand, a_refused_resource_is_told_with_its_faults) {
  const Ran ran = run({"plan", "-"}, std::string(crds::bad_sample(crds::Kind::stack_guardrail)));
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("<stdin>: StackGuardrail "));
  EXPECT_THAT(ran.err, HasSubstr("spec."));
}

TEST(PlanCommand, a_resource_without_any_image_is_told) {
  const std::string text = sample(crds::Kind::stack_entitystore);
  const Ran without = run({"plan", "-"}, text);
  const Ran with = run({"plan", "--image-entitystore", "example.com/own:1", "-"}, text);
  EXPECT_EQ(with.status, 0) << with.err;
  if (text.find("image:") == std::string::npos) {
    EXPECT_EQ(without.status, 1);
    EXPECT_THAT(without.err, HasSubstr("--image-entitystore"));
    EXPECT_THAT(with.out, HasSubstr("image: example.com/own:1"));
  }
}

TEST(PlanCommand, a_pipelines_services_are_planned_too) {
  const Ran ran = run({"plan", "-"}, sample(crds::Kind::inference_pipeline));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("kind: InferenceService\n"));
  EXPECT_THAT(ran.out, HasSubstr("kind: Deployment\n"));
}

TEST(PlanCommand, the_version_of_kubernetes_decides_between_apis) {
  const std::string text = sample(crds::Kind::inference_service) +
                           "  scale: {enabled: true, maxReplicas: 3, metrics: [{type: Pods, pods: {metric: {name: a}, "
                           "target: {type: AverageValue, averageValue: 1}}}]}\n";
  EXPECT_THAT(run({"plan", "-"}, text).out, HasSubstr("apiVersion: autoscaling/v2\n"));
  EXPECT_THAT(run({"plan", "--kubernetes", "20", "-"}, text).out, HasSubstr("apiVersion: autoscaling/v2beta2\n"));
}

TEST(PlanCommand, the_claim_of_a_cache_among_the_inputs_is_mounted) {
  const std::string service = sample(crds::Kind::inference_service) + "  storage: {nimCache: {name: models}}\n---\n";
  EXPECT_THAT(run({"plan", "-"}, service).out, HasSubstr("claimName: models-pvc\n"));
  const std::string cache =
      "apiVersion: stackgate.dev/v1alpha1\nkind: InferenceCache\nmetadata: {name: models}\n"
      "spec: {source: {datastore: {endpoint: 'http://d:8000', repository: a/b}}, storage: {pvc: {name: old}}}\n";
  EXPECT_THAT(run({"plan", "--image-puller", "p:1", "-"}, service + cache).out, HasSubstr("claimName: old\n"));
}

TEST(PlanCommand, what_cannot_be_read_is_told) {
  EXPECT_EQ(run({"plan", "no-such-file.yaml"}).status, 2);
  const Ran broken = run({"plan", "-"}, "a: [");
  EXPECT_EQ(broken.status, 2);
  EXPECT_THAT(broken.err, HasSubstr("<stdin>:1:"));
  const Ran others = run({"plan", "-"}, "apiVersion: v1\nkind: Secret\n");
  EXPECT_EQ(others.status, 2);
  EXPECT_THAT(others.err, HasSubstr("no resource of stackgate.dev"));
}

}  // namespace
}  // namespace stackgate
