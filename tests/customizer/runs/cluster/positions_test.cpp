#include "services/customizer/runs/cluster/positions.hpp"

#include <gmock/gmock.h>

namespace stackgate::customizer {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Positions, are_those_of_jobs_in_their_local_queue) {
  bool valid = false;
  // The page's example, and what is not a Job's, or without a number.
  const auto summary = kube::Object::parse(
      R"({"apiVersion":"visibility.kueue.x-k8s.io/v1beta1","kind":"PendingWorkloadsSummary","items":[
        {"metadata":{"name":"job-sample-job-jrjfr-8d56e","ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"sample-job-jrjfr"}]},
         "priority":0,"localQueueName":"user-queue","positionInClusterQueue":3,"positionInLocalQueue":0},
        {"metadata":{"name":"b","ownerReferences":[{"kind":"Job","name":"second"}]},"positionInClusterQueue":4,"positionInLocalQueue":1},
        {"metadata":{"name":"c","ownerReferences":[{"kind":"RayJob","name":"third"}]},"positionInLocalQueue":2},
        {"metadata":{"name":"d","ownerReferences":[{"kind":"Job","name":"fourth"}]}}]})",
      valid);
  ASSERT_TRUE(valid);
  EXPECT_THAT(positions_of(summary.root()), ElementsAre(Pair("sample-job-jrjfr", 0), Pair("second", 1)));
}

TEST(Positions, are_asked_for_where_there_is_no_quota_yet) {
  const auto workload = [](const char* conditions) {
    bool valid = false;
    return ObjectStore::Objects{keep(
        Kind::workload,
        kube::Object::parse(std::string(R"({"metadata":{"name":"w","uid":"u","resourceVersion":"1","ownerReferences":[
          {"kind":"Job","name":"cust-1a2b-training-1","uid":"j"}]},"status":{"conditions":[)") +
                                conditions + "]}}",
                            valid)
            .root())};
  };
  EXPECT_EQ(job_without_quota(workload("")), "cust-1a2b-training-1");
  EXPECT_EQ(job_without_quota(workload(R"({"type":"QuotaReserved","status":"False"})")), "cust-1a2b-training-1");
  EXPECT_EQ(job_without_quota(workload(R"({"type":"QuotaReserved","status":"True"})")), "");
  EXPECT_EQ(job_without_quota({}), "");
}

TEST(Positions, are_words) {
  EXPECT_EQ(position_text(0), "; it is the next in the queue");
  EXPECT_EQ(position_text(1), "; 1 is before it in the queue");
  EXPECT_EQ(position_text(7), "; 7 are before it in the queue");
}

}  // namespace
}  // namespace stackgate::customizer
