#include <gtest/gtest.h>

#include "tests/reconcile/plan/stack_plans.hpp"

namespace stackgate::reconcile::tests {
namespace stack_entitystore {

constexpr crds::Kind kind = crds::Kind::stack_entitystore;

TEST(StackEntitystorePlan, ItKnowsItsDatastore) {
  EXPECT_EQ(plan_of(minimal(kind)).variable("STACKGATE_DATASTORE_URL"), "http://datastore:8000");
}

TEST(StackEntitystorePlan, WhatNoFieldSpeaksOfIsLeftToTheUser) {
  const Planned planned =
      plan_of(minimal(kind,
                      "spec: {env: [{name: DATASTORE_USERNAME, value: reader}, {name: DATASTORE_PASSWORD, "
                      "valueFrom: {secretKeyRef: {name: s, key: k}}}, {name: STACKGATE_APPROVAL, value: required}]}"));
  EXPECT_EQ(planned.variable("DATASTORE_USERNAME"), "reader");
  EXPECT_EQ(planned.variable("DATASTORE_PASSWORD")["secretKeyRef"]["name"], "s");
  EXPECT_EQ(planned.variable("STACKGATE_APPROVAL"), "required");
}

TEST(StackEntitystorePlan, ItServesWhileItIsRolled) {
  const Tree strategy = plan_of(minimal(kind)).child(ChildType::deployment, "entitystore")["spec"]["strategy"];
  EXPECT_EQ(strategy["rollingUpdate"]["maxUnavailable"], 0);
}

}  // namespace stack_entitystore
}  // namespace stackgate::reconcile::tests
