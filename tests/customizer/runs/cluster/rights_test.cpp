// The Role that the operator gives the customizer, against what the code asks the API server for: neither has more.
#include <set>
#include <string>

#include <gmock/gmock.h>

#include "services/customizer/runs/cluster/facts.hpp"
#include "services/customizer/runs/cluster/kept.hpp"
#include "services/customizer/runs/cluster/positions.hpp"
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

/// By what is made, watched and looked up.
Rights asked(Scheduler scheduler) {
  const JobSetup setup = tests::full_setup(scheduler);
  TrainingJob job = tests::full_job();
  job.option.num_nodes = 2;
  std::vector<PlannedObject> all = common_objects(job, setup);
  for (auto& more : {download_objects(job, setup, tests::addresses(), 1),
                     training_objects(job, setup, tests::full_defaults(), tests::addresses(), 1),
                     upload_objects(job, setup, tests::addresses(), "{}", "", 1)})
    all.insert(all.end(), more.begin(), more.end());
  // Of a model, quotas and limits, cluster.cpp, checks.cpp and read_log.cpp: there is no table of these.
  Rights out{"get /persistentvolumeclaims", "list /resourcequotas", "list /limitranges", "get /pods/log"};
  for (const PlannedObject& object : all) {
    out.insert({right("create", object.type), right("delete", object.type)});
    // Whose is the name that is taken; Secrets and Services are taken for ours.
    if (object.type.plural != "secrets" && object.type.plural != "services") out.insert(right("get", object.type));
  }
  for (std::size_t i = 0; i < watched_types.size(); ++i)
    if (is_watched(static_cast<Kind>(i), scheduler))
      out.insert({right("list", watched_types.at(i)), right("watch", watched_types.at(i))});
  if (const auto queue = queue_object(setup); queue && queue->type.namespaced) out.insert(right("get", queue->type));
  if (scheduler == Scheduler::kueue) out.insert(right("get", types::visible_local_queues) + "/pendingworkloads");
  return out;
}

struct Dialect {
  Scheduler scheduler;
  const char* spec;
};

TEST(Rights, are_what_is_asked_for_and_no_more) {
  for (const Dialect& each : {Dialect{Scheduler::volcano, "{type: gang}"}, Dialect{Scheduler::runai, "{type: queue}"},
                              Dialect{Scheduler::kai, "{type: queue, queueDialect: kai}"},
                              Dialect{Scheduler::kueue, "{type: queue, queueDialect: kueue}"}}) {
    EXPECT_THAT(rights_of(each.spec), testing::ContainerEq(asked(each.scheduler))) << each.spec;
    EXPECT_THAT(rights_of(each.spec), testing::Not(testing::Contains("get /secrets")));
  }
}

}  // namespace
}  // namespace stackgate::customizer
