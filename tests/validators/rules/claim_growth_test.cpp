// A claim that cannot become as large as an update wants it.
#include <gtest/gtest.h>

#include "tests/validators/rules/rule_cases.hpp"
#include "validators/rule_ids.hpp"

namespace stackgate::validate::tests {
namespace claim_growth_test {

using crds::Kind;
using Lines = std::vector<std::string>;

constexpr std::string_view map = R"(
kind: ConfigMap
metadata: {name: guardrail-config}
data: {config.yml: ""}
---
)";

std::string claim(std::string_view storage_class, std::string_view size = "10Gi", std::string_view more = "") {
  return "kind: PersistentVolumeClaim\nmetadata: {name: guardrail-pvc" + std::string(more) +
         "}\nspec: {accessModes: [ReadWriteMany], storageClassName: " + std::string(storage_class) +
         ", resources: {requests: {storage: " + std::string(size) + "}}}\n---\n";
}

std::string storage_class(std::string_view name, std::string_view more = "") {
  return "kind: StorageClass\nmetadata: {name: " + std::string(name) + std::string(more) + "\n---\n";
}

std::string store(std::string_view pvc) {
  return "spec: {configStore: {configMap: null, pvc: {volumeAccessMode: ReadWriteMany, " + std::string(pvc) + "}}}";
}

Findings growth(std::string_view cluster, std::string_view before, std::string_view now, const Options& options = {}) {
  TableLookup lookup(std::string(map) + std::string(cluster));
  const auto stored = sample(Kind::stack_guardrail, before);
  const auto object = sample(Kind::stack_guardrail, now);
  return review({.kind = Kind::stack_guardrail, .object = &object->value(), .old = &stored->value(), .ns = "default"},
                &lookup, options);
}

const std::string ten = store("create: true, size: 10Gi"), twenty = store("create: true, size: 20Gi");
const Lines refused{"error spec.configStore.pvc.size claim-not-expandable"};

TEST(ClaimGrowth, NeedsAClassThatAllowsIt) {
  EXPECT_EQ(short_form(growth(claim("local") + storage_class("local", "}"), ten, twenty)), refused);
  EXPECT_EQ(short_form(growth(claim("local") + storage_class("local", "}\nallowVolumeExpansion: false"), ten, twenty)),
            refused);
  EXPECT_EQ(short_form(growth(claim("local") + storage_class("local", "}\nallowVolumeExpansion: true"), ten, twenty)),
            Lines{});
  EXPECT_EQ(short_form(growth(claim("''"), ten, twenty)), refused) << "no class at all";
  EXPECT_EQ(short_form(growth(claim("local"), ten, twenty)), refused) << "the class is gone";
}

TEST(ClaimGrowth, TheWordsNameTheClassAndTheCure) {
  const Findings found = growth(claim("local") + storage_class("local", "}"), ten, twenty);
  ASSERT_EQ(found.size(), 1U) << all_lines(found);
  EXPECT_EQ(found[0].problem,
            "the claim \"guardrail-pvc\" has 10Gi and cannot grow: its StorageClass \"local\" does not allow it");
  EXPECT_EQ(found[0].fix, "write 10Gi, or set allowVolumeExpansion: true on the class if its storage can grow");
}

TEST(ClaimGrowth, TheClaimInTheClusterCounts) {
  const std::string fixed = storage_class("local", "}");
  EXPECT_EQ(short_form(growth(claim("local", "20Gi") + fixed, ten, twenty)), Lines{}) << "large enough already";
  EXPECT_EQ(short_form(growth(claim("local", "20480Mi") + fixed, ten, twenty)), Lines{});
  EXPECT_EQ(short_form(growth(claim("local", "'21474836479'") + fixed, ten, twenty)), refused) << "one byte too small";
  EXPECT_EQ(short_form(growth(fixed, ten, twenty)), Lines{}) << "there is no claim yet";
  EXPECT_EQ(
      short_form(growth(claim("grows", "10Gi", ", annotations: {volume.beta.kubernetes.io/storage-class: local}") +
                            fixed + storage_class("grows", "}\nallowVolumeExpansion: true"),
                        ten, twenty)),
      refused)
      << "the annotation of old claims comes first";
  EXPECT_EQ(short_form(growth(claim("local") + fixed, store("create: false, name: guardrail-pvc"),
                              store("create: true, name: guardrail-pvc, size: 20Gi"))),
            refused)
      << "a claim that was somebody else's is grown too";
}

TEST(ClaimGrowth, IsLookedAtOnlyWhenTheClaimIsTouched) {
  const std::string cluster = claim("local") + storage_class("local", "}");
  const std::string touched =
      "{replicas: 2, configStore: {configMap: null, pvc: {volumeAccessMode: ReadWriteMany, "
      "create: true, size: 20Gi}}}";
  EXPECT_EQ(short_form(growth(cluster, twenty, "spec: " + touched)), Lines{});
  TableLookup lookup(std::string(map) + cluster);
  EXPECT_TRUE(of_rule(review_in(lookup, Kind::stack_guardrail, twenty), rule::claim_not_expandable).empty());
}

TEST(ClaimGrowth, WhatCannotBeAskedIsNoRefusal) {
  const std::string cluster =
      claim("local") + "kind: StorageClass\nmetadata: {name: local, annotations: {test/presence: unknown}}\n";
  EXPECT_EQ(short_form(growth(cluster, ten, twenty)), (Lines{"warning spec.configStore.pvc.size reference-unchecked"}));
  EXPECT_EQ(short_form(growth(
                claim("local") + storage_class("local", "}"), ten, twenty,
                {.required_references = References::warn, .other_references = References::off, .gpu_resources = {}})),
            Lines{});
}

TEST(ClaimGrowth, HoldsForEachKindThatMakesAClaim) {
  const auto update = [](Kind kind, std::string_view name, std::string_view before, std::string_view now) {
    TableLookup lookup("kind: PersistentVolumeClaim\nmetadata: {name: " + std::string(name) +
                       "}\nspec: {storageClassName: local, resources: {requests: {storage: 10Gi}}}\n---\n" +
                       storage_class("local", "}"));
    const auto stored = sample(kind, before);
    const auto object = sample(kind, now);
    const Request request{.kind = kind, .object = &object->value(), .old = &stored->value(), .ns = "default"};
    return short_form(of_rule(review(request, &lookup), rule::claim_not_expandable));
  };
  EXPECT_EQ(update(Kind::stack_datastore, "datastore-pvc", "spec: {pvc: {size: 10Gi}}", "spec: {pvc: {size: 11Gi}}"),
            Lines{"error spec.pvc.size claim-not-expandable"});
  EXPECT_EQ(update(Kind::stack_datastore, "git", "spec: {pvc: {name: git, size: 10Gi}}",
                   "spec: {pvc: {name: git, size: 11Gi}}"),
            Lines{"error spec.pvc.size claim-not-expandable"});
  EXPECT_EQ(update(Kind::stack_customizer, "customizer-pvc", "spec: {trainingConfig: {modelPVC: {size: 10Gi}}}",
                   "spec: {trainingConfig: {modelPVC: {size: 11Gi}}}"),
            Lines{"error spec.trainingConfig.modelPVC.size claim-not-expandable"});
  // A cache's storage is fixed altogether: cache-immutable says so, once.
  EXPECT_EQ(update(Kind::inference_cache, "llm-cache-pvc", "spec: {storage: {pvc: {size: 10Gi}}}",
                   "spec: {storage: {pvc: {size: 11Gi}}}"),
            Lines{});
}

}  // namespace claim_growth_test
}  // namespace stackgate::validate::tests
