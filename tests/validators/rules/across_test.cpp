#include <gtest/gtest.h>

#include "tests/validators/rules/rule_cases.hpp"
#include "validators/rule_ids.hpp"

namespace stackgate::validate::tests {
namespace across_test {

using crds::Kind;

/// References off: only what resources do to each other.
Findings beside(std::string_view neighbours, Kind kind, std::string_view patch) {
  Options options;
  options.required_references = options.other_references = References::off;
  TableLookup cluster(neighbours);
  return review_in(cluster, kind, patch, options);
}

std::vector<std::string> short_beside(std::string_view neighbours, Kind kind, std::string_view patch) {
  return short_form(beside(neighbours, kind, patch));
}

using Lines = std::vector<std::string>;

TEST(Across, EntitystoreAndCustomizerHaveOneTag) {
  constexpr std::string_view customizer =
      "kind: StackCustomizer\nmetadata: {name: c}\nspec: {image: {repository: r.example.com/c, tag: '1.2'}}";
  constexpr std::string_view entitystore =
      "kind: StackEntitystore\nmetadata: {name: e}\nspec: {image: {repository: r.example.com/e, tag: '1.2'}}";
  constexpr std::string_view same = "spec: {image: {repository: r.example.com/x, tag: '1.2'}}";
  constexpr std::string_view other = "spec: {image: {repository: r.example.com/x, tag: '1.3'}}";
  EXPECT_EQ(short_beside(customizer, Kind::stack_entitystore, other),
            (Lines{"warning spec.image.tag entitystore-tag-differs"}));
  EXPECT_EQ(short_beside(entitystore, Kind::stack_customizer, other),
            (Lines{"warning spec.image.tag entitystore-tag-differs"}));
  EXPECT_EQ(short_beside(customizer, Kind::stack_entitystore, same), Lines{});
  EXPECT_EQ(short_beside(entitystore, Kind::stack_customizer, same), Lines{});
  EXPECT_EQ(short_beside(entitystore, Kind::stack_entitystore, other), Lines{}) << "two entitystores may differ";
  EXPECT_EQ(short_beside(customizer, Kind::stack_entitystore, "{}"), Lines{}) << "the operator's own image";
  const std::string two = std::string(customizer) + "\n---\nkind: StackCustomizer\nmetadata: {name: d}\n" +
                          "spec: {image: {repository: r.example.com/c, tag: '1.3'}}";
  EXPECT_EQ(short_beside(two, Kind::stack_entitystore, other), Lines{}) << "it goes with one of them";
}

TEST(Across, DerivedNamesMeetToo) {
  EXPECT_EQ(short_beside("kind: InferenceService\nmetadata: {name: shared-workflows}\nspec: {}", Kind::stack_evaluator,
                         "metadata: {name: shared}"),
            (Lines{"error metadata.name child-name-taken"}));
  EXPECT_EQ(short_beside("kind: StackCustomizer\nmetadata: {name: shared}\nspec: {}", Kind::inference_service,
                         "metadata: {name: shared-jobs}"),
            Lines{})
      << "a ConfigMap and a Deployment";
  EXPECT_EQ(short_beside("kind: InferenceService\nmetadata: {name: shared-puller}\nspec: {}", Kind::inference_cache,
                         "metadata: {name: shared}"),
            (Lines{"error metadata.name child-name-taken"}))
      << "both would make the ServiceAccount shared-puller";
}

TEST(Across, TwoResourcesDoNotMakeTheSameObjects) {
  constexpr std::string_view service = "kind: InferenceService\nmetadata: {name: shared}\nspec: {}";
  EXPECT_EQ(short_beside(service, Kind::stack_guardrail, "metadata: {name: shared}"),
            (Lines{"error metadata.name child-name-taken"}));
  EXPECT_EQ(short_beside(service, Kind::stack_guardrail, "metadata: {name: other}"), Lines{});
  EXPECT_EQ(short_beside(service, Kind::inference_service, "metadata: {name: shared}"), Lines{})
      << "the resource itself";
  EXPECT_EQ(short_beside(service, Kind::inference_cache, "metadata: {name: shared}"), Lines{})
      << "a Job and a Deployment";
  EXPECT_EQ(short_beside("kind: InferenceService\nmetadata: {name: shared, namespace: elsewhere}\nspec: {}",
                         Kind::stack_guardrail, "metadata: {name: shared}"),
            Lines{});
  const Findings findings = beside(service, Kind::stack_guardrail, "metadata: {name: shared}");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].problem.find("InferenceService \"shared\""), std::string::npos) << findings[0].problem;
  EXPECT_NE(findings[0].problem.find("Deployment"), std::string::npos) << findings[0].problem;
}

TEST(Across, AClaimIsCreatedOnce) {
  constexpr std::string_view cache =
      "kind: InferenceCache\nmetadata: {name: other}\nspec: {storage: {pvc: {name: models, create: true}}}";
  EXPECT_EQ(short_beside(cache, Kind::inference_cache, "spec: {storage: {pvc: {name: models}}}"),
            (Lines{"error spec.storage.pvc.name claim-name-taken"}));
  EXPECT_EQ(short_beside(cache, Kind::stack_datastore, "spec: {pvc: {name: models}}"),
            (Lines{"error spec.pvc.name claim-name-taken"}));
  EXPECT_EQ(short_beside(cache, Kind::stack_customizer, "spec: {trainingConfig: {modelPVC: {name: models}}}"),
            (Lines{"error spec.trainingConfig.modelPVC.name claim-name-taken"}));
  EXPECT_EQ(short_beside(cache, Kind::stack_guardrail,
                         "spec: {configStore: {configMap: null, pvc: {name: models, create: true, size: 1Gi, "
                         "volumeAccessMode: ReadWriteMany}}}"),
            (Lines{"error spec.configStore.pvc.name claim-name-taken"}));
  EXPECT_EQ(short_beside(cache, Kind::inference_cache,
                         "spec: {storage: {pvc: {name: models, create: false, size: null, volumeAccessMode: null}}}"),
            Lines{})
      << "shared on purpose";
  EXPECT_EQ(
      short_beside(
          "kind: InferenceCache\nmetadata: {name: x}\nspec: {storage: {pvc: {name: llm-cache-pvc, create: true}}}",
          Kind::inference_cache, "{}"),
      (Lines{"error spec.storage.pvc claim-name-taken"}))
      << "a name that the operator chooses";
}

TEST(Across, APipelineAndItsServicesAreOne) {
  const auto service = [](std::string_view owner) {
    return "kind: InferenceService\nmetadata: {name: assistant-llm" +
           (owner.empty() ? std::string{}
                          : ", ownerReferences: [{apiVersion: stackgate.dev/v1alpha1, kind: InferencePipeline, name: " +
                                std::string(owner) + "}]") +
           "}\nspec: {}";
  };
  EXPECT_EQ(short_beside(service("assistant"), Kind::inference_pipeline, "{}"), Lines{});
  EXPECT_EQ(short_beside(service(""), Kind::inference_pipeline, "{}"),
            (Lines{"error spec.services[0].name child-name-taken"}));
  EXPECT_EQ(short_beside(service("another"), Kind::inference_pipeline, "{}"),
            (Lines{"error spec.services[0].name child-name-taken"}));

  constexpr std::string_view pipeline =
      "kind: InferencePipeline\nmetadata: {name: p}\nspec: {services: [{name: llm, spec: {}}]}";
  EXPECT_EQ(short_beside(pipeline, Kind::inference_service, "{}"), (Lines{"error metadata.name child-name-taken"}));
  EXPECT_EQ(
      short_beside(pipeline, Kind::inference_service,
                   "metadata: {ownerReferences: [{apiVersion: stackgate.dev/v1alpha1, kind: InferencePipeline, name: "
                   "p, uid: x}]}"),
      Lines{})
      << "made by the operator";
  EXPECT_EQ(
      short_beside(
          "kind: InferencePipeline\nmetadata: {name: p}\nspec: {services: [{name: llm, enabled: false, spec: {}}]}",
          Kind::inference_service, "{}"),
      Lines{});
}

TEST(Across, ACollisionThatIsThereStopsNoOtherChange) {
  const auto stored = sample(Kind::stack_guardrail, "{metadata: {name: shared}}");
  const auto changed = sample(Kind::stack_guardrail, "{metadata: {name: shared}, spec: {replicas: 2}}");
  TableLookup cluster(
      "kind: InferenceService\nmetadata: {name: shared}\nspec: {}\n---\nkind: ConfigMap\nmetadata: {name: "
      "guardrail-config}\ndata: {config.yml: ''}");
  EXPECT_EQ(short_form(review(
                {.kind = Kind::stack_guardrail, .object = &changed->value(), .old = &stored->value(), .ns = "default"},
                &cluster)),
            (Lines{"warning metadata.name child-name-taken"}));
}

TEST(Across, NeighboursThatCannotBeListedAreAWarning) {
  Options options;
  options.required_references = options.other_references = References::off;
  TableLookup cluster("{}");
  cluster.answers_neighbours = false;
  EXPECT_EQ(short_form(review_in(cluster, Kind::stack_guardrail, "{}", options)),
            (Lines{"warning metadata.name reference-unchecked"}));
}

Findings delete_cache(std::string_view neighbours, std::string_view patch, bool answers = true) {
  const auto cache = sample(Kind::inference_cache, patch);
  TableLookup cluster(neighbours);
  cluster.answers_neighbours = answers;
  return review_deletion({.kind = Kind::inference_cache, .object = &cache->value(), .old = nullptr, .ns = "default"},
                         &cluster);
}

std::string user(int number) {
  return "kind: InferenceService\nmetadata: {name: llm-" + std::to_string(number) +
         "}\nspec: {storage: {nimCache: {name: llm-cache}}}\n---\n";
}

TEST(Across, ACacheInUseIsNotDeleted) {
  const Findings one = delete_cache(user(1), "{}");
  EXPECT_EQ(short_form(one), (Lines{"error metadata.name deletion-of-used-cache"}));
  EXPECT_NE(one[0].problem.find("an InferenceService uses it: llm-1"), std::string::npos) << one[0].problem;
  EXPECT_NE(one[0].fix.find("stackgate.dev/allow-delete-while-used: \"true\""), std::string::npos) << one[0].fix;

  std::string many;
  for (int i = 10; i < 22; ++i) many += user(i);
  const Findings twelve = delete_cache(many, "{}");
  ASSERT_EQ(twelve.size(), 1U);
  EXPECT_NE(twelve[0].problem.find("12 InferenceServices use it: llm-10, llm-11"), std::string::npos)
      << twelve[0].problem;
  EXPECT_NE(twelve[0].problem.find("llm-19 and 2 more"), std::string::npos) << twelve[0].problem;
}

TEST(Across, ACacheIsDeletedWhenNobodyUsesItOrSomebodyMeansIt) {
  EXPECT_TRUE(delete_cache("{}", "{}").empty());
  EXPECT_TRUE(delete_cache(user(1), "metadata: {name: other-cache}").empty());
  EXPECT_TRUE(delete_cache(user(1), "metadata: {namespace: elsewhere}").empty());
  EXPECT_TRUE(
      delete_cache(user(1), "metadata: {annotations: {stackgate.dev/allow-delete-while-used: 'true'}}").empty());
  EXPECT_TRUE(delete_cache(user(1), "metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}").empty());
  EXPECT_FALSE(
      delete_cache(user(1), "metadata: {annotations: {stackgate.dev/allow-delete-while-used: 'yes'}}").empty());
  EXPECT_EQ(short_form(delete_cache(user(1), "{}", false)), (Lines{"warning metadata.name reference-unchecked"}));
}

TEST(Across, AServiceThatIsItselfDeletedUsesNoCache) {
  EXPECT_TRUE(delete_cache("kind: InferenceService\nmetadata: {name: llm, deletionTimestamp: '2026-01-01T00:00:00Z'}\n"
                           "spec: {storage: {nimCache: {name: llm-cache}}}",
                           "{}")
                  .empty());
}

TEST(Across, OtherKindsAreDeletedAtOnce) {
  const auto object = sample(Kind::inference_service, "{}");
  TableLookup cluster(user(1));
  EXPECT_TRUE(
      review_deletion({.kind = Kind::inference_service, .object = &object->value(), .old = nullptr, .ns = "default"},
                      &cluster)
          .empty());
}

}  // namespace across_test
}  // namespace stackgate::validate::tests
