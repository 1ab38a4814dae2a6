#include "services/customizer/runs/cluster/limit_ranges.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/customizer/objects/objects_support.hpp"

namespace stackgate::customizer {
namespace {

using testing::Contains;
using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using validate::Finding;

/// Of a training that requests 4 CPUs and 32Gi with a limit of 64Gi and one GPU, whose tools request 100m and 256Mi
/// without limits; the workspace has 50Gi. `limits` are those of the LimitRange team.
validate::Findings judged(const std::string& limits, Scheduler scheduler = Scheduler::volcano, const char* more = "") {
  TrainingJob job = tests::full_job();
  job.option.num_gpus = 1;
  bool valid = false;
  const auto list = kube::Object::parse(
      fmt::format(R"({{"items":[{{"metadata":{{"name":"team"}},"spec":{{"limits":[{}]}}}}{}]}})", limits, more), valid);
  EXPECT_TRUE(valid) << limits;
  return judge_limit_ranges(list.root(), first_attempts(job, tests::full_setup(scheduler), tests::full_defaults()));
}

auto says(const std::string& words) { return Contains(Field(&Finding::problem, HasSubstr(words))); }

TEST(LimitRanges, refuse_what_is_never_made) {
  struct Given {
    const char *name, *limits, *words;  // of one finding; empty: there is none
  };
  for (const Given& row : {
           Given{"none", "", ""},
           Given{"of what we have not", R"({"type":"Image","max":{"storage":"1"}})", ""},
           Given{"a fault in it", R"({"type":"Container","max":{"cpu":"many"}})", ""},
           Given{"claims of that size",
                 R"({"type":"PersistentVolumeClaim","min":{"storage":"50Gi"},"max":{"storage":"50Gi"}})", ""},
           Given{"smaller claims", R"({"type":"PersistentVolumeClaim","max":{"storage":"10Gi"}})",
                 "makes a claim (its workspace) that requests 50Gi storage, and the namespace's LimitRange team allows "
                 "at most "
                 "10Gi"},
           Given{"larger claims", R"({"type":"PersistentVolumeClaim","min":{"storage":"51Gi"}})",
                 "that requests 50Gi storage, and the namespace's LimitRange team wants at least 51Gi"},
           Given{"limits that are given fit",
                 R"({"type":"Container","max":{"memory":"64Gi"},"default":{"memory":"1Gi"}})", ""},
           Given{"less memory", R"({"type":"Container","max":{"memory":"63Gi"},"default":{"memory":"1Gi"}})",
                 "makes a container (trainer, for its training) with a limit of 64Gi memory, and the namespace's "
                 "LimitRange team "
                 "allows at most 63Gi"},
           Given{"more memory", R"({"type":"Container","min":{"memory":"33Gi"},"default":{"memory":"40Gi"},
                                   "defaultRequest":{"memory":"33Gi"}})",
                 "makes a container (trainer, for its training) that requests 32Gi memory"},
           Given{"more CPUs than it requests", R"({"type":"Container","min":{"cpu":"100m"}})", ""},
           Given{"a ratio that fits", R"({"type":"Container","maxLimitRequestRatio":{"nvidia.com/gpu":1},
                                        "default":{"nvidia.com/gpu":1},"defaultRequest":{"nvidia.com/gpu":1}})",
                 ""},
           Given{"a ratio",
                 R"({"type":"Container","maxLimitRequestRatio":{"memory":"1.5"},"default":{"memory":"256Mi"}})",
                 "with a limit of 64Gi memory that requests 32Gi, and the namespace's LimitRange team allows limits of "
                 "memory "
                 "of at most 1500m times the request"},
           Given{"the largest ratio",
                 R"({"type":"Container","maxLimitRequestRatio":{"memory":"2"},"default":{"memory":"512Mi"}})", ""},
           Given{
               "a limit below a request", R"({"type":"Container","default":{"cpu":"3"}})",
               "makes a container (trainer, for its training) that requests 4 cpu, and the namespace's LimitRange team "
               "gives it "
               "a limit of 3"},
           Given{"pods that fit",
                 R"({"type":"Container","default":{"memory":"1Gi"}},{"type":"Pod","max":{"memory":"64Gi"}})", ""},
           Given{"smaller pods",
                 R"({"type":"Container","default":{"memory":"1Gi"}},{"type":"Pod","max":{"memory":"32Gi"}})",
                 "makes a pod (for its training) with a limit of 64Gi memory"},
           Given{"pods that request more than is given", R"({"type":"Container","default":{"memory":"300Mi"}},
                                                          {"type":"Pod","min":{"memory":"300Mi"}})",
                 "makes a pod (for its upload) that requests 256Mi memory"},
       }) {
    const auto found = judged(row.limits);
    if (*row.words == '\0') {
      EXPECT_THAT(found, IsEmpty()) << row.name << ": " << (found.empty() ? "" : found[0].problem);
      continue;
    }
    EXPECT_THAT(found, says(row.words)) << row.name << ": " << (found.empty() ? "" : found[0].problem);
    EXPECT_TRUE(validate::has_errors(found)) << row.name;
    EXPECT_THAT(found, Each(Field(&Finding::path, "config"))) << row.name;
    EXPECT_THAT(found, Each(Field(&Finding::fix, Not(IsEmpty())))) << row.name;
  }
}

TEST(LimitRanges, of_what_is_not_stated_are_told_for_each_pod) {
  // A LimitRange as the API server stores one gives containers what it allows at most; one of pods gives nothing.
  const auto most = judged(R"({"type":"Pod","max":{"cpu":"8"}})");
  for (const char* stage : {"download", "training", "upload"})
    EXPECT_THAT(most, says(fmt::format("makes a pod (for its {}) without a limit of cpu", stage)));
  const auto least = judged(R"({"type":"Pod","min":{"ephemeral-storage":"1Gi"}})");
  EXPECT_THAT(least, says("makes a pod (for its training) that requests no ephemeral-storage"));
  const auto ratio = judged(R"({"type":"Container","maxLimitRequestRatio":{"cpu":"2"}})");
  EXPECT_THAT(ratio, says("makes a container (trainer, for its training) without a limit of cpu"));
}

TEST(LimitRanges, warn_where_a_model_may_be_there_already) {
  const auto found = judged(R"({"type":"Container","default":{"memory":"100Mi"}})");
  ASSERT_THAT(found, SizeIs(3));  // the training has a limit of its own
  EXPECT_EQ(found[0].severity, validate::Severity::warning);
  EXPECT_THAT(found[0].problem, HasSubstr("makes a container (model, for its download)"));
  EXPECT_EQ(found[1].severity, validate::Severity::error);
  EXPECT_THAT(found[1].problem, HasSubstr("makes a container (dataset, for its download)"));
}

TEST(LimitRanges, of_several_the_first_gives_and_all_judge) {
  const char* second =
      R"(,{"metadata":{"name":"all"},"spec":{"limits":[{"type":"Container","default":{"memory":"1Mi"},"max":{"memory":"48Gi"}}]}})";
  const auto found = judged(R"({"type":"Container","default":{"memory":"1Gi"}})", Scheduler::plain, second);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].problem, HasSubstr("the namespace's LimitRange all allows at most 48Gi"));
}

}  // namespace
}  // namespace stackgate::customizer
