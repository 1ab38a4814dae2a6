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

std::string service_named(std::string_view name, std::string_view spec = "{multiNode: {size: 2}}") {
  return "kind: InferenceService\nmetadata: {name: " + std::string(name) +
         ", ownerReferences: [{apiVersion: stackgate.dev/v1alpha1, kind: InferencePipeline, name: other, uid: x}]}\n" +
         "spec: " + std::string(spec) + "\n";
}
std::string pipeline_of(std::string_view services) { return "spec: {services: [" + std::string(services) + "]}"; }
constexpr std::string_view two_nodes =
    "spec: {image: {repository: r.example.com/a, tag: '1'}, authSecret: key, resources: {limits: {nvidia.com/gpu: 1}}, "
    "multiNode: {size: 2, tensorParallelism: 2}}";
std::string entry(std::string_view name) { return "{name: " + std::string(name) + ", " + std::string(two_nodes) + "}"; }

TEST(Across, TwoResourcesThatMeetInManyObjectsMeetOnce) {
  const Findings findings = beside(service_named("a"), Kind::inference_pipeline, pipeline_of(entry("a")));
  EXPECT_EQ(short_form(findings), (Lines{"error spec.services[0].name child-name-taken"}));
  EXPECT_EQ(findings[0].problem,
            "InferenceService \"a\" exists already, and this resource would create one, and 8 more objects in common");
  EXPECT_EQ(findings[0].fix,
            "give this service another name, also where others depend on it, or rename InferenceService \"a\"");

  const std::string pipeline =
      "kind: InferencePipeline\nmetadata: {name: p}\nspec: {services: [{name: llm, spec: {multiNode: {size: 2}}}]}";
  const Findings other = beside(pipeline, Kind::inference_service, "{}");
  EXPECT_EQ(short_form(other), (Lines{"error metadata.name child-name-taken"}));
  EXPECT_EQ(other[0].problem,
            "InferencePipeline \"p\" creates an InferenceService of this name, too, and 4 more objects in common");
  EXPECT_EQ(other[0].fix, "choose another name, or rename the service in InferencePipeline \"p\"");
}

TEST(Across, APipelineIsToldWhichOfItsServicesMeets) {
  EXPECT_EQ(
      short_beside(service_named("b-lws", "{}"), Kind::inference_pipeline, pipeline_of(entry("a") + ", " + entry("b"))),
      (Lines{"error spec.services[1].name child-name-taken"}))
      << "the Service b-lws";
  EXPECT_EQ(short_beside(service_named("a") + "---\n" + service_named("b"), Kind::inference_pipeline,
                         pipeline_of(entry("a") + ", " + entry("b"))),
            (Lines{"error spec.services[0].name child-name-taken", "error spec.services[1].name child-name-taken"}))
      << "two neighbours";
  const std::string both =
      "kind: InferencePipeline\nmetadata: {name: p}\nspec: {services: [{name: a, spec: {}}, {name: b, spec: {}}]}";
  EXPECT_EQ(short_beside(both, Kind::inference_pipeline, pipeline_of(entry("a") + ", " + entry("b"))),
            (Lines{"error spec.services[0].name child-name-taken", "error spec.services[1].name child-name-taken"}))
      << "one name would not cure the other";
  // The cures cure.
  EXPECT_EQ(short_beside(both, Kind::inference_pipeline, pipeline_of(entry("c") + ", " + entry("b"))),
            (Lines{"error spec.services[1].name child-name-taken"}));
  EXPECT_EQ(short_beside(both, Kind::inference_pipeline, pipeline_of(entry("c") + ", " + entry("d"))), Lines{});
  EXPECT_EQ(short_beside(both, Kind::inference_pipeline,
                         pipeline_of("{enabled: false, " + entry("a").substr(1) + ", " + entry("d"))),
            Lines{});
}

TEST(Across, AClaimThatIsNamedAfterTheResourceGoesWithItsName) {
  constexpr std::string_view rails =
      "kind: StackGuardrail\nmetadata: {name: shared}\nspec: {configStore: {pvc: {create: true}}}";
  EXPECT_EQ(short_beside(rails, Kind::stack_datastore, "metadata: {name: shared}\nspec: {pvc: {name: null}}"),
            (Lines{"error metadata.name child-name-taken"}));
  EXPECT_EQ(short_beside(rails, Kind::stack_datastore, "metadata: {name: shared}\nspec: {pvc: {name: shared-pvc}}"),
            (Lines{"error metadata.name child-name-taken", "error spec.pvc.name claim-name-taken"}))
      << "two names to change";
  EXPECT_EQ(short_beside(rails, Kind::stack_datastore, "metadata: {name: other}\nspec: {pvc: {name: null}}"), Lines{});
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
