// The Role that the operator gives the customizer, against what it makes and what it reads: each dialect has all of it.
#include <set>
#include <string>

#include <gmock/gmock.h>

#include "tests/customizer/objects/objects_support.hpp"
#include "tests/reconcile/plan/stack_plans.hpp"

namespace stackgate::customizer {
namespace {

using Rights = std::set<std::string>;

/// "verb group/resource" of the Role in the plan of a StackCustomizer with that scheduler.
Rights rights_of(std::string_view scheduler) {
  using namespace reconcile::tests;
  const auto planned =
      plan_of(minimal(crds::Kind::stack_customizer,
                      "spec: {trainingConfig: {queueName: q}, scheduler: " + std::string(scheduler) + "}"));
  Rights out;
  for (const auto& rule : planned.child(reconcile::ChildType::role, "customizer")["rules"])
    for (const auto& group : rule["apiGroups"])
      for (const auto& resource : rule["resources"])
        for (const auto& verb : rule["verbs"])
          out.insert(verb.get<std::string>() + " " + group.get<std::string>() + "/" + resource.get<std::string>());
  return out;
}

std::string right(std::string_view verb, const kube::ResourceType& type) {
  return std::string(verb) + " " + std::string(type.group) + "/" + std::string(type.plural);
}

struct Dialect {
  Scheduler scheduler;
  const char* spec;
};

TEST(Rights, are_enough_for_every_dialect) {
  for (const Dialect& each : {Dialect{Scheduler::volcano, "{type: gang}"}, Dialect{Scheduler::runai, "{type: queue}"},
                              Dialect{Scheduler::kai, "{type: queue, queueDialect: kai}"},
                              Dialect{Scheduler::kueue, "{type: queue, queueDialect: kueue}"}}) {
    const Rights rights = rights_of(each.spec);
    const JobSetup setup = tests::full_setup(each.scheduler);
    TrainingJob job = tests::full_job();
    job.option.num_nodes = 2;
    std::vector<PlannedObject> all = common_objects(job, setup);
    for (auto& more : {download_objects(job, setup, tests::addresses(), 1),
                       training_objects(job, setup, tests::full_defaults(), tests::addresses(), 1),
                       upload_objects(job, setup, tests::addresses(), "{}", "", 1)})
      all.insert(all.end(), more.begin(), more.end());
    for (const PlannedObject& object : all)
      for (const char* verb : {"create", "delete"})
        EXPECT_THAT(rights, testing::Contains(right(verb, object.type))) << each.spec << object.name;
    Rights reading{"list /pods", "get /pods/log", "list /events", "list batch/jobs"};
    if (each.scheduler == Scheduler::volcano)
      reading.insert({right("list", types::volcano_jobs), right("list", types::pod_groups)});
    if (each.scheduler == Scheduler::kueue) reading.insert(right("list", types::workloads));
    for (const std::string& wanted : reading) EXPECT_THAT(rights, testing::Contains(wanted)) << each.spec;
    EXPECT_THAT(rights, testing::Not(testing::Contains("get /secrets")));
  }
}

}  // namespace
}  // namespace stackgate::customizer
