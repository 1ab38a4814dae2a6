#include "cluster_state/watch_rights.hpp"

#include <gmock/gmock.h>

namespace stackgate::cluster {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

kube::WatchReport report(std::string type, std::string ns, kube::Coverage coverage, bool denied, std::string error) {
  kube::WatchReport out{std::move(type), std::move(ns), coverage, {}};
  out.health.denied = denied;
  out.health.synced = coverage == kube::Coverage::listed;
  (denied ? out.health.denial : out.health.last_error) = std::move(error);
  return out;
}

std::vector<std::string> questions(const std::vector<kube::WatchReport>& reports) {
  std::vector<std::string> out;
  for (const MissingRight& each : missing_rights(reports)) out.push_back(can_i(each));
  return out;
}

TEST(MissingRights, are_worded_as_kubectl_asks_about_them) {
  EXPECT_THAT(questions({
                  report("secrets", "", kube::Coverage::refused, true,
                         R"(User "x" cannot list resource "secrets" in API group)"),
                  report("configmaps", "ml", kube::Coverage::refused, true, "forbidden"),
                  report("storageclasses.storage.k8s.io", "", kube::Coverage::refused, true, ""),
                  report("inferencecaches.stackgate.dev", "", kube::Coverage::listed, true, ""),
                  report("serviceaccounts", "", kube::Coverage::refused, true, R"(User "x" cannot watch resource)"),
              }),
              ElementsAre("kubectl auth can-i list secrets --all-namespaces",
                          "kubectl auth can-i list configmaps --namespace ml",
                          "kubectl auth can-i list storageclasses.storage.k8s.io",
                          "kubectl auth can-i watch inferencecaches.stackgate.dev --all-namespaces",
                          "kubectl auth can-i watch serviceaccounts --all-namespaces"));
}

TEST(MissingRights, are_only_those_that_the_api_server_refused) {
  EXPECT_THAT(questions({report("secrets", "", kube::Coverage::listed, false, ""),
                         report("secrets", "", kube::Coverage::unlisted, false, "connection refused"),
                         report("stackguardrails.stackgate.dev", "", kube::Coverage::absent, true, "")}),
              IsEmpty());
}

TEST(MissingRights, keep_their_words_while_the_server_cannot_be_reached) {
  auto secrets = report("secrets", "", kube::Coverage::listed, true, R"(User "x" cannot list resource "secrets")");
  secrets.health.last_error = "connection refused";
  EXPECT_THAT(questions({secrets}), ElementsAre("kubectl auth can-i list secrets --all-namespaces"));
}

TEST(MissingRights, mean_for_each_who_watches_what_they_mean_for_him) {
  const std::string unseen = "the reconciler does not see these objects",
                    asked = "references to such objects are asked about one by one, or not checked";
  const Watchers gate{.gate = true}, reconciler{.reconciler = true}, both{.gate = true, .reconciler = true};
  struct Meaning {
    const char* resource;
    Watchers watchers;
    std::string expected;
  };
  const std::string ours = "the reconciler does not see these resources and does nothing for them";
  const std::string definitions = "whether optional types are there is asked again and again instead of being told";
  for (const Meaning& each : std::initializer_list<Meaning>{
           {"secrets", gate, asked},
           {"secrets", reconciler, unseen},
           {"secrets", both, unseen + "; " + asked},
           {"runtimeclasses.node.k8s.io", gate, asked},
           {"deployments.apps", both, unseen},
           {"deployments.apps", reconciler, unseen},
           {"pods", both, unseen},
           {"stackguardrails.stackgate.dev", gate, asked},
           {"stackguardrails.stackgate.dev", reconciler, ours},
           {"stackguardrails.stackgate.dev", both, ours + "; " + asked},
           {"things.notstackgate.dev", both, unseen},
           {"customresourcedefinitions.apiextensions.k8s.io", gate, definitions},
           {"customresourcedefinitions.apiextensions.k8s.io", both, definitions},
       })
    EXPECT_EQ(consequence(each.resource, each.watchers), each.expected) << each.resource;
}

TEST(RightsReminder, tells_at_once_and_then_every_hour_until_the_right_is_given) {
  const MissingRight secrets{"list", "secrets", "", false, "forbidden"}, maps{"list", "configmaps", "", false, ""};
  RightsReminder reminder;
  const auto start = RightsReminder::Clock::now();
  EXPECT_EQ(reminder.update({secrets}, start).missing.size(), 1U);
  EXPECT_EQ(reminder.update({secrets}, start + 59min).missing.size(), 0U);
  const auto second = reminder.update({secrets, maps}, start + 59min);
  ASSERT_EQ(second.missing.size(), 1U);
  EXPECT_EQ(second.missing[0].resource, "configmaps");
  EXPECT_EQ(reminder.update({secrets, maps}, start + 60min).missing.size(), 1U);
  const auto regained = reminder.update({maps}, start + 61min);
  EXPECT_THAT(regained.missing, IsEmpty());
  ASSERT_EQ(regained.regained.size(), 1U);
  EXPECT_EQ(regained.regained[0].resource, "secrets");
  // Lost again: told again.
  EXPECT_EQ(reminder.update({secrets, maps}, start + 62min).missing.size(), 1U);
}

}  // namespace
}  // namespace stackgate::cluster
