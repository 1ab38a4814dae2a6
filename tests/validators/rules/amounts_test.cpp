// Amounts that can be read but not be meant, and amounts that are not there.
#include <gtest/gtest.h>

#include "tests/validators/rules/rule_cases.hpp"
#include "validators/rule_ids.hpp"

namespace stackgate::validate::tests {
namespace amounts_test {

using crds::Kind;
using Lines = std::vector<std::string>;

std::string shared(std::string_view amount) {
  return "spec: {storage: {sharedMemorySizeLimit: " + std::string(amount) + "}}";
}
std::string limit(std::string_view name, std::string_view amount) {
  return "spec: {resources: {limits: {" + std::string(name) + ": " + std::string(amount) + "}}}";
}
std::string request(std::string_view name, std::string_view amount) {
  return "spec: {resources: {requests: {" + std::string(name) + ": " + std::string(amount) + "}}}";
}
std::string claim(std::string_view size) { return "spec: {storage: {pvc: {size: " + std::string(size) + "}}}"; }

TEST(AmountRules, AmountsThatNobodyMeansAreWarnedOf) {
  const std::string shm = "spec.storage.sharedMemorySizeLimit";
  expect_rule(rule::amount_unlikely, Kind::inference_service,
              {{shared("'16'"), {shm}},
               {shared("1023Ki"), {shm}},
               {shared("1Mi"), {}},
               {shared("1M"), {shm}},
               {shared("16Gi"), {}},
               {shared("1Pi"), {}},
               {shared("2Pi"), {shm}},
               {limit("memory", "64"), {"spec.resources.limits.memory"}},
               {limit("memory", "1048575"), {"spec.resources.limits.memory"}},
               {limit("memory", "1048576"), {}},
               {limit("memory", "0"), {}},
               {limit("memory", "1024Ti"), {}},
               {limit("memory", "1025Ti"), {"spec.resources.limits.memory"}},
               {limit("memory", "1e400"), {"spec.resources.limits.memory"}},
               {request("memory", "'64'"), {"spec.resources.requests.memory"}},
               {limit("ephemeral-storage", "10"), {"spec.resources.limits.ephemeral-storage"}},
               {limit("cpu", "500M"), {"spec.resources.limits.cpu"}},
               {limit("cpu", "500m"), {}},
               {limit("cpu", "10000"), {}},
               {limit("cpu", "10001"), {"spec.resources.limits.cpu"}},
               {limit("cpu", "1Gi"), {"spec.resources.limits.cpu"}},
               {limit("nvidia.com/gpu", "1024"), {}},
               {limit("nvidia.com/gpu", "1025"), {"spec.resources.limits[nvidia.com/gpu]"}},
               {limit("nvidia.com/gpu", "1Gi"), {"spec.resources.limits[nvidia.com/gpu]"}},
               {limit("nvidia.com/gpu", "'99999999999'"), {"spec.resources.limits[nvidia.com/gpu]"}},
               {limit("rdma/hca", "99999"), {}}});
  expect_rule(rule::amount_unlikely, Kind::inference_cache,
              {{claim("'100'"), {"spec.storage.pvc.size"}},
               {claim("100Gi"), {}},
               {claim("1Mi"), {}},
               {claim("2Pi"), {}},
               {claim("1e400"), {"spec.storage.pvc.size"}}});
}

TEST(AmountRules, AFractionOfAByteIsWarnedOfEverywhere) {
  expect_rule(rule::memory_fraction, Kind::inference_service,
              {{shared("'0.5'"), {"spec.storage.sharedMemorySizeLimit"}},
               {shared("500m"), {"spec.storage.sharedMemorySizeLimit"}},
               {shared("0.5Gi"), {}},
               {shared("1.3Gi"), {"spec.storage.sharedMemorySizeLimit"}},
               {limit("memory", "512m"), {"spec.resources.limits.memory"}},
               {limit("memory", "1e400"), {}},
               {limit("hugepages-2Mi", "500m, memory: 1Gi"), {"spec.resources.limits.hugepages-2Mi"}}});
  expect_rule(rule::memory_fraction, Kind::inference_cache,
              {{claim("100m"), {"spec.storage.pvc.size"}}, {claim("'0.5'"), {"spec.storage.pvc.size"}}});
}

TEST(AmountRules, TheSlipIsNamed) {
  const auto line = [](Kind kind, std::string_view patch) {
    const Findings found = review_of(kind, patch);
    return found.size() == 1 ? found[0].problem + "; " + found[0].fix : all_lines(found);
  };
  const auto service = [&](std::string_view patch) { return line(Kind::inference_service, patch); };
  EXPECT_EQ(service(shared("'16'")), "is 16 bytes, less than a mebibyte; add the unit, for example \"16Gi\"");
  EXPECT_EQ(service(shared("'1'")), "is 1 byte, less than a mebibyte; add the unit, for example \"1Gi\"");
  EXPECT_EQ(service(shared("'4096'")), "is 4096 bytes, less than a mebibyte; add the unit, for example \"4096Mi\"");
  EXPECT_EQ(service(shared("'0.5'")), "is a fraction of a byte; add the unit, for example \"0.5Gi\"");
  EXPECT_EQ(service(shared("500m")),
            "is a fraction of a byte: the suffix m means a thousandth; write \"500Mi\" for mebibytes or \"500M\" for "
            "megabytes");
  EXPECT_EQ(service(shared("1.3Gi")), "is a fraction of a byte; write whole mebibytes: \"1332Mi\"");
  EXPECT_EQ(service(shared("64k")),
            "is 64000 bytes, less than a mebibyte; write it with another unit, for example \"16Gi\"");
  EXPECT_EQ(service(limit("memory", "1e400")),
            "is more than any node has; write it with another unit, for example \"64Gi\"");
  EXPECT_EQ(service(limit("cpu", "500M")),
            "is more CPUs than any node has; write \"500m\" for thousandths of a CPU: M means a million");
  EXPECT_EQ(service(limit("cpu", "20000")),
            "is more CPUs than any node has; write \"20000m\" if thousandths of a CPU are meant");
  EXPECT_EQ(service(limit("nvidia.com/gpu", "1Gi")),
            "is more GPUs than any node has; write how many each pod needs, without a unit, for example "
            "nvidia.com/gpu: 1");
  EXPECT_EQ(line(Kind::inference_cache, claim("'100'")),
            "is 100 bytes, less than a mebibyte; add the unit, for example \"100Gi\"");
}

TEST(AmountRules, AboveTheMemoryLimitIsTheOnlyFault) {
  EXPECT_EQ(short_form(review_of(Kind::inference_service,
                                 "spec: {storage: {sharedMemorySizeLimit: 2Pi}, resources: {limits: {memory: 8Gi}}}")),
            (Lines{"warning spec.storage.sharedMemorySizeLimit shared-memory-above-limit"}));
}

/// The minimal sample with these limits as they are written: a merge patch cannot write a null.
Findings with_resources(std::string_view resources) {
  const Sample object(
      "apiVersion: stackgate.dev/v1alpha1\nkind: InferenceService\nmetadata: {name: llm}\n"
      "spec: {image: {repository: r.example.com/llm, tag: '1'}, authSecret: key, resources: " +
      std::string(resources) + "}");
  return review({.kind = Kind::inference_service, .object = &object.value(), .old = nullptr, .ns = "default"}, nullptr);
}

TEST(AmountRules, ANullIsDroppedByTheApiServerAndCountsForNothing) {
  const auto lines = [](std::string_view resources) { return short_form(with_resources(resources)); };
  EXPECT_EQ(lines("{limits: {nvidia.com/gpu: null, memory: 64Gi}}"),
            (Lines{"error spec.resources.limits[nvidia.com/gpu] gpu-missing"}));
  EXPECT_EQ(lines("{requests: {nvidia.com/gpu: null}, limits: {memory: 64Gi}}"),
            (Lines{"error spec.resources.requests[nvidia.com/gpu] gpu-missing"}));
  EXPECT_EQ(lines("{limits: {nvidia.com/gpu: null, amd.com/gpu: 1}}"), Lines{});
  EXPECT_EQ(lines("{requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: null}}"),
            (Lines{"error spec.resources.requests[nvidia.com/gpu] gpu-requests-differ-from-limits"}));
  EXPECT_EQ(lines("{limits: {nvidia.com/gpu: 1, memory: null}, requests: {cpu: null}}"), Lines{});
  EXPECT_EQ(lines("{limits: {nvidia.com/gpu: 1, hugepages-2Mi: 2Mi, memory: null}}"),
            (Lines{"error spec.resources.limits.hugepages-2Mi hugepages-alone"}));
  EXPECT_EQ(lines("{limits: {nvidia.com/gpu: 1, hugepages-2Mi: null}}"), Lines{});
  const Findings found = with_resources("{limits: {nvidia.com/gpu: null}}");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].fix, "write nvidia.com/gpu: 1 under resources.limits");
}

TEST(AmountRules, WhatReadsLikeAGpuIsNamed) {
  const auto line = [](std::string_view limits) {
    const Findings found = with_resources("{limits: {" + std::string(limits) + "}}");
    return found.size() == 1 && found[0].rule == rule::gpu_missing.id ? found[0].path + ": " + found[0].fix
                                                                      : all_lines(found);
  };
  const auto let_count = [](std::string_view name) {
    return "spec.resources.limits[" + std::string(name) +
           "]: add nvidia.com/gpu: 1, or let it count: start the gate, and call validate, with --gpu-resources=" +
           std::string(name);
  };
  for (const std::string_view name :
       {"nvidia.com/mig-1g.5gb", "nvidia.com/gpu.shared", "gpu.intel.com/i915", "google.com/tpu", "habana.ai/gaudi"})
    EXPECT_EQ(line(std::string(name) + ": 1"), let_count(name));
  EXPECT_EQ(line("nvidia.com/GPU: 1"), "spec.resources.limits[nvidia.com/GPU]: did you mean nvidia.com/gpu?");
  EXPECT_EQ(line("nvidia.com/gpus: 1"), "spec.resources.limits[nvidia.com/gpus]: did you mean nvidia.com/gpu?");
  EXPECT_EQ(line("amd.com/gpus: 1"), "spec.resources.limits[amd.com/gpus]: did you mean amd.com/gpu?");
  EXPECT_EQ(line("rdma/hca: 1, example.com/input: 1"),
            "spec.resources.limits: add nvidia.com/gpu: 1 under resources.limits");
  EXPECT_TRUE(with_resources("{limits: {nvidia.com/gpu: 1, nvidia.com/mig-1g.5gb: 1}}").empty());
}

TEST(AmountRules, WhatIsToldToCountCounts) {
  const auto object =
      sample(Kind::inference_service, "spec: {resources: {limits: {nvidia.com/gpu: null, nvidia.com/mig-1g.5gb: 1}}}");
  Options options;
  options.gpu_resources = {"nvidia.com/mig-1g.5gb"};
  EXPECT_TRUE(review({.kind = Kind::inference_service, .object = &object->value(), .old = nullptr, .ns = "default"},
                     nullptr, options)
                  .empty());
}

}  // namespace amounts_test
}  // namespace stackgate::validate::tests
