#include "services/customizer/runs/cluster/quota.hpp"

#include <fmt/format.h>
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
  return needs_of(first_attempts(job, tests::full_setup(scheduler), tests::full_defaults()));
}
/// As a quota without scopes counts them.
QuotaAmounts all_of(const QuotaNeeds& needs) {
  QuotaAmounts out = most_of_pods(needs.pods);
  out.insert(needs.objects.begin(), needs.objects.end());
  return out;
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
  const QuotaAmounts volcano = all_of(needs());
  for (const Need& row :
       {Need{"pods", "4"}, Need{"cpu", "16"}, Need{"requests.cpu", "16"}, Need{"requests.memory", "128Gi"},
        Need{"limits.memory", "256Gi"}, Need{"requests.nvidia.com/gpu", "4"}, Need{"persistentvolumeclaims", "1"},
        Need{"requests.storage", "50Gi"}, Need{"fast.storageclass.storage.k8s.io/requests.storage", "50Gi"},
        Need{"configmaps", "2"}, Need{"secrets", "1"}, Need{"count/jobs.batch", "3"},
        Need{"count/jobs.batch.volcano.sh", "1"}}) {
    const auto found = volcano.find(row.name);
    ASSERT_NE(found, volcano.end()) << row.name;
    EXPECT_EQ(found->second, *parse_quantity(row.amount)) << row.name;
  }
  EXPECT_FALSE(volcano.contains("services"));
  const QuotaAmounts kueue = all_of(needs(Scheduler::kueue));
  EXPECT_EQ(kueue.at("pods"), *parse_quantity("4"));
  EXPECT_EQ(kueue.at("services"), *parse_quantity("1"));
  EXPECT_EQ(kueue.at("count/jobs.batch"), *parse_quantity("4"));
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

TEST(Quotas, with_scopes_count_the_pods_that_they_choose) {
  // The training has a deadline and the class "batch"; download and upload have neither. All state what they request.
  struct Scoped {
    const char *name, *scopes, *words;
    bool is_warning = false;
  };
  const auto in = [](const char* how, const char* values) {
    return fmt::format(
        R"(,"scopeSelector":{{"matchExpressions":[{{"scopeName":"PriorityClass","operator":"{}","values":[{}]}}]}})",
        how, values);
  };
  const std::string high = in("In", R"("high")"), batch = in("In", R"("high","batch")"),
                    not_high = in("NotIn", R"("high")"), not_batch = in("NotIn", R"("batch")"), any = in("Exists", ""),
                    none = in("DoesNotExist", "");
  for (const Scoped& row : {
           Scoped{"without", "", "needs 4 pods"},
           Scoped{"of deadlines", R"(,"scopes":["Terminating"])", "needs 4 pods"},
           Scoped{"of none", R"(,"scopes":["NotTerminating"])", "needs 2 pods"},
           Scoped{"of what requests something", R"(,"scopes":["NotBestEffort"])", "needs 4 pods"},
           Scoped{"of what requests nothing", R"(,"scopes":["BestEffort"])", ""},
           Scoped{"two, both", R"(,"scopes":["NotTerminating","BestEffort"])", ""},
           Scoped{"another class", high.c_str(), ""},
           Scoped{"the class", batch.c_str(), "needs 4 pods"},
           Scoped{"but another class", not_high.c_str(), "needs 4 pods"},
           Scoped{"but the class", not_batch.c_str(), "needs 2 pods", true},
           Scoped{"any class", any.c_str(), "needs 4 pods"},
           Scoped{"no class", none.c_str(), "needs 2 pods", true},
           Scoped{"affinities", R"(,"scopes":["CrossNamespacePodAffinity"])", ""},
           Scoped{"one that is not known", R"(,"scopes":["New"])", ""},
       }) {
    const auto found = judged(R"({"pods":"1"})", "{}", row.scopes);
    if (*row.words == '\0') {
      EXPECT_THAT(found, IsEmpty()) << row.name;
      continue;
    }
    ASSERT_THAT(found, SizeIs(1)) << row.name;
    EXPECT_THAT(found[0].problem, HasSubstr(row.words)) << row.name;
    EXPECT_EQ(validate::has_errors(found), !row.is_warning) << row.name;
  }
  EXPECT_THAT(judged(R"({"persistentvolumeclaims":"0"})", "{}", R"(,"scopes":["Terminating"])"), IsEmpty())
      << "scopes are of pods";
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

TEST(ClusterQuota, of_kueue_is_what_one_flavor_has_where_nothing_is_borrowed) {
  const auto judge = [](const std::string& spec) {
    bool valid = false;
    const auto queue = kube::Object::parse(R"({"spec":{)" + spec + "}}", valid);
    EXPECT_TRUE(valid);
    return judge_cluster_quota(queue.root(), "gpus", needs(Scheduler::kueue));
  };
  // 16 CPUs, 128Gi and 4 GPUs in all.
  const auto groups = [](const char* gpus, const char* more_gpus, const char* cpu = "16") {
    return fmt::format(
        R"("resourceGroups":[{{"coveredResources":["cpu","memory"],"flavors":[{{"name":"any","resources":[
          {{"name":"cpu","nominalQuota":{2}}},{{"name":"memory","nominalQuota":"128Gi"}}]}}]}},
        {{"coveredResources":["nvidia.com/gpu"],"flavors":[{{"name":"a","resources":[{{"name":"nvidia.com/gpu","nominalQuota":"{0}"}}]}},
          {{"name":"b","resources":[{{"name":"nvidia.com/gpu","nominalQuota":"{1}"}}]}}]}}])",
        gpus, more_gpus, cpu);
  };
  EXPECT_THAT(judge(groups("2", "4")), IsEmpty());
  const auto found = judge(groups("3", "2"));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_TRUE(validate::has_errors(found));
  EXPECT_EQ(found[0].problem, "needs 4 nvidia.com/gpu, and no flavor of Kueue's ClusterQueue gpus has more than 3");
  EXPECT_THAT(judge(groups("3", "2") + R"(,"cohort":"all")"), IsEmpty()) << "it may borrow";
  EXPECT_THAT(judge(groups("3", "2") + R"(,"cohortName":"all")"), IsEmpty());
  EXPECT_THAT(judge(groups("4", "0", "15")), SizeIs(1));
  const auto uncovered = judge(R"("resourceGroups":[])");
  ASSERT_THAT(uncovered, SizeIs(3));
  EXPECT_FALSE(validate::has_errors(uncovered));
  EXPECT_THAT(uncovered[0].problem, HasSubstr("which Kueue's ClusterQueue gpus does not cover"));
}

}  // namespace
}  // namespace stackgate::customizer
