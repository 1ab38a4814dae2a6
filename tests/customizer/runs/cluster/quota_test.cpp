#include "services/customizer/runs/cluster/quota.hpp"

#include <gmock/gmock.h>

#include "services/kit/kube/object.hpp"
#include "tests/customizer/objects/objects_support.hpp"

namespace stackgate::customizer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using validate::grammar::parse_quantity;

/// Two nodes with two GPUs: four pods of 4 CPUs and 32Gi, and no limit of CPUs.
QuotaNeeds needs(Scheduler scheduler = Scheduler::volcano) {
  TrainingJob job = tests::full_job();
  job.option = {.num_nodes = 2, .num_gpus = 2};
  return needs_of(job, tests::full_setup(scheduler), tests::full_defaults());
}

validate::Findings judged(const std::string& hard, const std::string& used, const std::string& more_of_spec = "") {
  bool valid = false;
  const auto list = kube::Object::parse(R"({"items":[{"metadata":{"name":"team"},"spec":{"hard":)" + hard +
                                            more_of_spec + R"(},"status":{"used":)" + used + "}}]}",
                                        valid);
  EXPECT_TRUE(valid);
  return judge_quotas(list.root(), needs());
}

TEST(QuotaNeeds, are_the_pods_of_the_largest_stage_and_the_objects_of_all) {
  struct Need {
    const char *name, *amount;
  };
  const QuotaNeeds volcano = needs();
  for (const Need& row :
       {Need{"pods", "4"}, Need{"cpu", "16"}, Need{"requests.cpu", "16"}, Need{"requests.memory", "128Gi"},
        Need{"limits.memory", "256Gi"}, Need{"requests.nvidia.com/gpu", "4"}, Need{"persistentvolumeclaims", "1"},
        Need{"requests.storage", "50Gi"}, Need{"fast.storageclass.storage.k8s.io/requests.storage", "50Gi"},
        Need{"configmaps", "2"}, Need{"secrets", "1"}, Need{"count/jobs.batch", "3"},
        Need{"count/jobs.batch.volcano.sh", "1"}}) {
    const auto found = volcano.amounts.find(row.name);
    ASSERT_NE(found, volcano.amounts.end()) << row.name;
    EXPECT_EQ(found->second, *parse_quantity(row.amount)) << row.name;
  }
  EXPECT_FALSE(volcano.amounts.contains("services"));
  const QuotaNeeds kueue = needs(Scheduler::kueue);
  EXPECT_EQ(kueue.amounts.at("pods"), *parse_quantity("4"));
  EXPECT_EQ(kueue.amounts.at("services"), *parse_quantity("1"));
  EXPECT_EQ(kueue.amounts.at("count/jobs.batch"), *parse_quantity("4"));
}

TEST(Quotas, are_errors_where_they_never_allow_it_and_warnings_where_they_do_not_now) {
  struct Quota {
    const char *name, *hard, *used, *words;
    bool is_warning = false;
  };
  for (const Quota& row : {
           Quota{"enough", R"({"requests.cpu":"16"})", R"({"requests.cpu":"0"})", ""},
           Quota{"nothing is known of what is used", R"({"requests.cpu":"16"})", "{}", ""},
           Quota{"other resources", R"({"count/cronjobs.batch":"0"})", "{}", ""},
           Quota{"never", R"({"requests.cpu":"15500m"})", "{}",
                 "needs 16 requests.cpu, and the namespace's ResourceQuota team allows 15500m"},
           Quota{"not now", R"({"requests.cpu":"20"})", R"({"requests.cpu":"4100m"})",
                 "of the 20 that the namespace's ResourceQuota team allows, 4100m are in use", true},
           Quota{"just", R"({"requests.cpu":"20"})", R"({"requests.cpu":"4"})", ""},
           Quota{"memory", R"({"memory":"100Gi"})", "{}", "needs 128Gi memory"},
           Quota{"accelerators", R"({"requests.nvidia.com/gpu":2})", "{}", "needs 4 requests.nvidia.com/gpu"},
           Quota{"pods", R"({"pods":"3"})", "{}", "needs 4 pods"},
           Quota{"claims", R"({"persistentvolumeclaims":"5"})", R"({"persistentvolumeclaims":"5"})", "5 are in use",
                 true},
           Quota{"storage", R"({"requests.storage":"10Gi"})", "{}", "needs 50Gi requests.storage"},
           Quota{"what containers do not state", R"({"limits.cpu":"100"})", "{}", "state no limits.cpu (its download)",
                 true},
           Quota{"a fault in it", R"({"pods":"many"})", "{}", ""},
       }) {
    const auto found = judged(row.hard, row.used);
    if (*row.words == '\0') {
      EXPECT_THAT(found, IsEmpty()) << row.name;
      continue;
    }
    ASSERT_THAT(found, SizeIs(1)) << row.name;
    EXPECT_THAT(found[0].problem, HasSubstr(row.words)) << row.name;
    EXPECT_EQ(validate::has_errors(found), !row.is_warning) << row.name;
    EXPECT_FALSE(found[0].fix.empty()) << row.name;
    EXPECT_EQ(found[0].path, "config") << row.name;
  }
}

TEST(Quotas, with_scopes_are_not_judged) {
  EXPECT_THAT(judged(R"({"pods":"0"})", "{}"), SizeIs(1));
  EXPECT_THAT(judged(R"({"pods":"0"})", "{}", R"(,"scopes":["Terminating"])"), IsEmpty());
  EXPECT_THAT(judged(R"({"pods":"0"})", "{}", R"(,"scopeSelector":{"matchExpressions":[]})"), IsEmpty());
}

TEST(Capability, of_a_queue_is_the_most_that_it_takes_in) {
  const auto judge = [](const char* queue) {
    bool valid = false;
    return judge_capability(kube::Object::parse(queue, valid).root(), "research", needs());
  };
  EXPECT_THAT(judge("{}"), IsEmpty());
  EXPECT_THAT(judge(R"({"spec":{"capability":{"cpu":16,"nvidia.com/gpu":"4","other.com/gpu":"0"}}})"), IsEmpty());
  const auto found = judge(R"({"spec":{"capability":{"cpu":"20","nvidia.com/gpu":"3"}}})");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_TRUE(validate::has_errors(found));
  EXPECT_EQ(found[0].problem, "needs 4 nvidia.com/gpu, and Volcano's queue research has room for 3");
}

}  // namespace
}  // namespace stackgate::customizer
