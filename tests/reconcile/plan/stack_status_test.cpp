// What a stack resource's status says: the kind's own part. The state machine itself is tested in reconcile/status.
#include <gtest/gtest.h>

#include "tests/reconcile/plan/stack_plans.hpp"

namespace stackgate::reconcile::tests {
namespace stack_status {

using crds::Kind;

std::string told(const Planned& planned) {
  std::string out(to_string(planned.plan.status.state));
  for (const Condition& each : planned.plan.status.conditions) out += " " + each.type + "=" + each.reason;
  return out;
}

constexpr std::string_view available =
    "{metadata: {generation: 1}, spec: {replicas: 1}, status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, "
    "readyReplicas: 1, availableReplicas: 1, conditions: [{type: Available, status: 'True'}]}}";

TEST(StackStatus, NothingIsThereYet) {
  for (const Kind kind : {Kind::stack_datastore, Kind::stack_entitystore, Kind::stack_customizer, Kind::stack_evaluator,
                          Kind::stack_guardrail})
    EXPECT_EQ(told(plan_of(minimal(kind))), "Pending Ready=Creating") << crds::info(kind).name;
}

TEST(StackStatus, AnAvailableDeploymentIsReady) {
  World world;
  world.add(ChildType::deployment, "entitystore", available);
  const Planned planned = plan_of(minimal(Kind::stack_entitystore, "spec: {replicas: 1}"), world);
  EXPECT_EQ(told(planned), "Ready Ready=AllReplicasAvailable");
  EXPECT_EQ(planned.plan.status.available_replicas, 1);
}

TEST(StackStatus, ANameThatSomebodyElseHasIsAFailure) {
  World world;
  world.add(ChildType::deployment, "entitystore", available);
  world.add(ChildType::service, "entitystore", "{metadata: {name: entitystore}}", false);
  EXPECT_EQ(told(plan_of(minimal(Kind::stack_entitystore), world)), "Failed Ready=NameTaken");
}

TEST(StackStatus, AKeptClaimIsNobodyElses) {
  World world;
  world.add(ChildType::deployment, "datastore", available);
  world.add(ChildType::persistent_volume_claim, "datastore-pvc", "{status: {phase: Bound}}", false);
  EXPECT_EQ(told(plan_of(minimal(Kind::stack_datastore), world)), "Ready Ready=AllReplicasAvailable");
}

TEST(StackStatus, AMountedClaimThatIsLostIsAFailure) {
  World world;
  world.add(ChildType::deployment, "datastore", available);
  world.add(ChildType::persistent_volume_claim, "datastore-pvc", "{status: {phase: Lost}}", false);
  EXPECT_EQ(told(plan_of(minimal(Kind::stack_datastore), world)), "Failed Ready=ClaimLost");
}

TEST(StackStatus, AClaimThatOnlyJobsMountKeepsNothingFromRunning) {
  World world;
  world.add(ChildType::deployment, "customizer", available);
  world.add(ChildType::persistent_volume_claim, "customizer-pvc", "{status: {phase: Pending}}", false);
  EXPECT_EQ(told(plan_of(minimal(Kind::stack_customizer, "spec: {replicas: 1}"), world)),
            "Ready Ready=AllReplicasAvailable");
}

/// It is not among the children, so that it cannot be told from one that is not there.
TEST(StackStatus, AnExistingClaimIsLeftToThePods) {
  World world;
  world.add(ChildType::deployment, "datastore", "{metadata: {generation: 1}, spec: {replicas: 1}, status: {}}");
  const Planned planned =
      plan_of(minimal(Kind::stack_datastore, "spec: {pvc: {create: false, name: x, size: null}}"), world);
  EXPECT_EQ(planned.plan.status.conditions.at(0).message.find("claim"), std::string::npos);
  EXPECT_EQ(told(planned), "Pending Ready=Starting");
}

TEST(StackStatus, AMissingApiIsToldBesideTheState) {
  World world;
  world.observed.served.service_monitors = false;
  world.add(ChildType::deployment, "guardrail", available);
  const Planned planned = plan_of(minimal(Kind::stack_guardrail, "spec: {metrics: {enabled: true}}"), world);
  EXPECT_EQ(told(planned), "Ready Ready=AllReplicasAvailable OptionalAPIs=NotInstalled");
  EXPECT_TRUE(planned.child(ChildType::service_monitor, "guardrail").is_null());
}

}  // namespace stack_status
}  // namespace stackgate::reconcile::tests
