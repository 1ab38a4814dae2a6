#include <gtest/gtest.h>

#include "reconcile/plan/stack_common.hpp"
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

TEST(StackEntitystorePlan, ItSignsInAtTheDatastoreOfItsNamespace) {
  World world;
  world.observed.datastore_admin = "datastore-admin";
  const Planned planned = plan_of(minimal(kind), world);
  for (const auto& [name, key] :
       {std::pair{"DATASTORE_USERNAME", "GIT_ADMIN_USERNAME"}, {"DATASTORE_PASSWORD", "GIT_ADMIN_PASSWORD"}}) {
    EXPECT_EQ(planned.variable(name)["secretKeyRef"]["name"], "datastore-admin");
    EXPECT_EQ(planned.variable(name)["secretKeyRef"]["key"], key);
  }
  EXPECT_TRUE(plan_of(minimal(kind)).variable("DATASTORE_USERNAME").is_null()) << "of an unknown one nothing";
  EXPECT_EQ(plan_of(minimal(kind, "spec: {env: [{name: DATASTORE_USERNAME, value: reader}]}"), world)
                .variable("DATASTORE_USERNAME"),
            "reader");
}

TEST(StackEntitystorePlan, AnAddressNamesAServiceOfTheNamespace) {
  struct Row {
    std::string_view url, service;
  };
  for (const auto& [url, service] :
       std::initializer_list<Row>{{"http://datastore:8000", "datastore"},
                                  {"https://datastore", "datastore"},
                                  {"http://datastore.team:8000/v1/hf", "datastore"},
                                  {"http://datastore.team.svc", "datastore"},
                                  {"http://datastore.team.svc.cluster.local:80", "datastore"},
                                  {"http://datastore.other:8000", ""},
                                  {"http://datastore.team.svcs", ""},
                                  {"http://datastore.team.example.com", ""},
                                  {"http://datastore.example.com", ""},
                                  {"http://[::1]:80", ""},
                                  {"nonsense", ""}})
    EXPECT_EQ(stack::service_named(url, "team"), service) << url;
}

TEST(StackEntitystorePlan, ItServesWhileItIsRolled) {
  const Tree strategy = plan_of(minimal(kind)).child(ChildType::deployment, "entitystore")["spec"]["strategy"];
  EXPECT_EQ(strategy["rollingUpdate"]["maxUnavailable"], 0);
}

}  // namespace stack_entitystore
}  // namespace stackgate::reconcile::tests
