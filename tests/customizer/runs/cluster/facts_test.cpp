#include "services/customizer/runs/cluster/facts.hpp"

#include <gmock/gmock.h>

#include "tests/customizer/objects/objects_support.hpp"

namespace stackgate::customizer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Fact there(const std::string& text) {
  bool valid = false;
  return {.is_known = true, .object = std::make_shared<const kube::Object>(kube::Object::parse(text, valid))};
}
const Fact absent{.is_known = true};

struct Row {
  const char* name;
  Scheduler scheduler;
  ClusterFacts facts;
  const char* words;  // "": nothing is wrong
};

TEST(ClusterFacts, become_errors_where_no_training_can_run) {
  const Row rows[] = {
      {"nothing is known", Scheduler::volcano, {}, ""},
      {"its kinds",
       Scheduler::volcano,
       {.serves_trainings = false, .queue = absent},
       "whose kinds this cluster does not serve"},
      {"no queue",
       Scheduler::volcano,
       {.serves_trainings = true, .queue = absent},
       "Volcano's queue research, which is not there"},
      {"open", Scheduler::volcano, {.queue = there(R"({"status":{"state":"Open"}})")}, ""},
      {"closed", Scheduler::volcano, {.queue = there(R"({"status":{"state":"Closed"}})")}, "which is closed"},
      {"a leaf", Scheduler::kai, {.queue = there(R"({"status":{}})")}, ""},
      {"no leaf", Scheduler::kai, {.queue = there(R"({"status":{"childQueues":["a"]}})")}, "jobs run in a leaf"},
      {"active",
       Scheduler::kueue,
       {.queue = there(R"({"status":{"conditions":[{"type":"Active","status":"True"}]}})")},
       ""},
      {"inactive",
       Scheduler::kueue,
       {.queue = there(R"({"status":{"conditions":[{"type":"Active","status":"False","message":"Can't submit"}]}})")},
       "takes in nothing: Can't submit"},
      {"held", Scheduler::kueue, {.queue = there(R"({"spec":{"stopPolicy":"Hold"}})")}, "takes in nothing"},
      {"a ClusterQueue that is not known",
       Scheduler::kueue,
       {.queue = there(R"({"spec":{"clusterQueue":"gpus"}})"), .cluster_queue = {}},
       ""},
      {"an active one",
       Scheduler::kueue,
       {.queue = there(R"({"spec":{"clusterQueue":"gpus"}})"),
        .cluster_queue = there(R"({"spec":{"stopPolicy":"None"}})")},
       ""},
      {"none",
       Scheduler::kueue,
       {.queue = there(R"({"spec":{"clusterQueue":"gpus"}})"), .cluster_queue = absent},
       "runs in the LocalQueue research, whose ClusterQueue gpus is not there"},
      {"a held one",
       Scheduler::kueue,
       {.queue = there(R"({"spec":{"clusterQueue":"gpus"}})"),
        .cluster_queue = there(R"({"spec":{"stopPolicy":"HoldAndDrain"}})")},
       "whose ClusterQueue gpus takes in nothing: its stopPolicy is HoldAndDrain"},
      {"an inactive one",
       Scheduler::kueue,
       {.queue = there(R"({"spec":{"clusterQueue":"gpus"}})"),
        .cluster_queue =
            there(R"({"status":{"conditions":[{"type":"Active","status":"False","message":"Can't admit"}]}})")},
       "takes in nothing: Can't admit"},
      {"both",
       Scheduler::kueue,
       {.queue = there(R"({"spec":{"clusterQueue":"gpus","stopPolicy":"Hold"}})"), .cluster_queue = absent},
       "the LocalQueue research, which takes in nothing: its stopPolicy is Hold"},
      {"Run:ai has none", Scheduler::runai, {.queue = absent}, ""},
      {"no claim",
       Scheduler::plain,
       {.model_claim = absent},
       "the claim customizer-models with the base models, which is not there"},
      {"a lost one",
       Scheduler::plain,
       {.model_claim = there(R"({"status":{"phase":"Lost"}})")},
       "whose volume is lost"},
      {"one that waits", Scheduler::plain, {.model_claim = there(R"({"status":{"phase":"Pending"}})")}, ""},
      {"no class", Scheduler::plain, {.storage_class = absent}, "StorageClass fast, which is not there"},
  };
  for (const Row& row : rows) {
    const auto found = judge_cluster(row.facts, tests::full_setup(row.scheduler));
    if (*row.words == '\0') {
      EXPECT_THAT(found, IsEmpty()) << row.name;
      continue;
    }
    ASSERT_THAT(found, SizeIs(1)) << row.name;
    EXPECT_THAT(found[0].problem, HasSubstr(row.words)) << row.name;
    EXPECT_TRUE(validate::has_errors(found)) << row.name;
    EXPECT_FALSE(found[0].fix.empty()) << row.name;
  }
}

TEST(ClusterFacts, ask_for_the_default_queue_where_none_is_chosen) {
  JobSetup setup = tests::full_setup(Scheduler::volcano);
  setup.queue.clear();
  EXPECT_EQ(queue_object(setup)->name, "default");
  EXPECT_FALSE(queue_object(setup)->type.namespaced);
}

}  // namespace
}  // namespace stackgate::customizer
