// One pass of the Reconciler, and its ChildWriter, over an API server of the test's own.
#include "reconcile/control/reconciler.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crds/embedded.hpp"
#include "reconcile/control/controller.hpp"
#include "reconcile/labels.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/kube/shared_watches.hpp"
#include "services/kit/yaml/parse.hpp"
#include "tests/reconcile/control/api_server.hpp"
#include "tests/reconcile/control/parsed.hpp"

namespace stackgate::reconcile {
namespace reconciler_test {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;
using tests::ApiServer;
using tests::Parsed;

/// Everything is there, as far as anybody knows.
class NobodyKnows final : public validate::Lookup {
 public:
  validate::ReferencedObject find(validate::ReferenceKind, std::string_view, std::string_view) override { return {}; }
  bool neighbours(std::string_view, std::vector<validate::Neighbour>&) override { return false; }
};

const Key llm{crds::Kind::inference_service, "ml", "llm"};
const std::string core = "/api/v1/namespaces/ml/", apps = "/apis/apps/v1/namespaces/ml/";
const std::string own = "/apis/stackgate.dev/v1alpha1/namespaces/ml/inferenceservices/llm";

class ReconcilerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    client_ = *kube::Client::connect({.server = server.url()}, {});
    watches_ = std::make_unique<kube::SharedWatches>(client_->transport(), std::vector<std::string>{});
    state.subscribe(*watches_);
    world_ = std::make_unique<ClusterWatches>(*watches_, store,
                                              "autoscaling/v2");  // never started: it knows of no optional type
    reconciler = std::make_unique<Reconciler>(
        *client_, store, *world_,
        ReconcilerOptions{.settings = {},
                          .rules = {},
                          .lookup = [] { return std::make_unique<NobodyKnows>(); },
                          .may_write = [this] { return leads; },
                          .record = [this](const Resource&, const EventNote& note) { events.push_back(note.reason); }});
    const yaml::Stream sample = yaml::parse(crds::minimal_sample(llm.kind));
    server.put(own, json::to_json(sample.documents.front().root));
    change(R"({"metadata":{"namespace":"ml","uid":"uid-llm","generation":1}})");
  }

  /// Somebody changes the resource, and its watch tells the store.
  void change(std::string_view merge_patch) {
    state.sink(llm.kind).upsert(Parsed(server.change(own, merge_patch)));
    changes.clear();
  }
  void see(ChildType type, const std::string& path) { store.put_child(type, Parsed(server.get(path))); }

  Pass run(bool defer_status = false) { return reconciler->run(llm, defer_status); }
  /// A pass that has made all children and the status; what it asked is forgotten.
  void settle() {
    const Pass pass = run();
    ASSERT_EQ(pass.result, Pass::Result::settled) << pass.error;
    server.take_requests();
    changes.clear();
    events.clear();
  }
  std::string status() const { return server.get(own); }

  ApiServer server;
  std::vector<std::string> changes, events;
  bool leads = true;
  cluster::State state{cluster::State::Contents::yes};
  Store store{state, [this](const Key& key) { changes.push_back(key.name); }};

 private:
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<kube::SharedWatches> watches_;
  std::unique_ptr<ClusterWatches> world_;

 protected:
  std::unique_ptr<Reconciler> reconciler;
};

TEST_F(ReconcilerTest, makes_the_children_then_what_needs_them_then_the_status) {
  const Pass pass = run();
  EXPECT_EQ(pass.result, Pass::Result::settled) << pass.error;
  const auto requests = server.take_requests();
  ASSERT_GE(requests.size(), 3U);
  EXPECT_EQ(pass.writes, requests.size());
  EXPECT_EQ(requests.back(), "PATCH " + own + "/status");
  EXPECT_EQ(requests[requests.size() - 2], "POST " + apps + "deployments");
  EXPECT_THAT(requests, Contains("POST " + core + "services"));
  EXPECT_THAT(server.get(core + "services/llm"), HasSubstr("\"uid\":\"uid-llm\""));
  EXPECT_THAT(server.get(core + "services/llm"), HasSubstr(std::string(plan_annotation)));
  EXPECT_THAT(status(), HasSubstr("\"observedGeneration\":1"));
}

TEST_F(ReconcilerTest, asks_nothing_for_a_settled_resource) {
  settle();
  EXPECT_EQ(run().result, Pass::Result::settled);
  EXPECT_THAT(server.take_requests(), IsEmpty());
  EXPECT_THAT(changes, IsEmpty());
}

TEST_F(ReconcilerTest, leaves_the_status_to_a_later_pass_when_asked_to) {
  EXPECT_EQ(run(true).result, Pass::Result::status_waits);
  EXPECT_THAT(server.take_requests(), Each(StartsWith("POST ")));
  EXPECT_EQ(run(true).result, Pass::Result::settled);
  EXPECT_THAT(server.take_requests(), ElementsAre("PATCH " + own + "/status"));
}

TEST_F(ReconcilerTest, is_not_called_back_for_what_it_wrote_itself) {
  server.before_answer([this](const std::string& line, const std::string& object) {  // the event overtakes the answer
    if (line == "POST " + core + "services") store.put_child(ChildType::service, Parsed(object));
    if (line == "POST " + apps + "deployments") store.put_child(ChildType::deployment, Parsed(object));
    if (line.ends_with("/status")) state.sink(llm.kind).upsert(Parsed(object));
  });
  EXPECT_EQ(run().result, Pass::Result::settled);
  EXPECT_THAT(changes, IsEmpty());
}

TEST_F(ReconcilerTest, is_called_back_when_somebody_else_wrote_meanwhile) {
  server.before_answer([this](const std::string& line, const std::string&) {
    if (line == "POST " + core + "services")
      store.put_child(ChildType::service,
                      Parsed(server.change(core + "services/llm", R"({"spec":{"type":"NodePort"}})")));
  });
  run();
  EXPECT_THAT(changes, Contains("llm"));
}

TEST_F(ReconcilerTest, puts_back_what_somebody_changed) {
  settle();
  const std::string path = apps + "deployments/llm";
  server.change(path, R"({"spec":{"replicas":7}})");
  see(ChildType::deployment, path);
  const Pass pass = run();
  EXPECT_EQ(pass.result, Pass::Result::settled) << pass.error;
  EXPECT_EQ(pass.repairs, 1U);
  EXPECT_THAT(server.take_requests(), Contains("PATCH " + path));
  EXPECT_THAT(server.get(path), HasSubstr("\"replicas\":1"));
}

TEST_F(ReconcilerTest, turns_the_create_entry_into_an_apply_entry_before_an_update_that_may_lose_a_field) {
  change(R"({"spec":{"env":[{"name":"A","value":"b"}]}})");
  settle();
  change(R"({"spec":{"env":null},"metadata":{"generation":2}})");
  const Pass pass = run();
  EXPECT_EQ(pass.result, Pass::Result::settled) << pass.error;
  const std::string path = apps + "deployments/llm";
  EXPECT_THAT(server.take_requests(), ElementsAre("PATCH " + path, "PATCH " + path, "PATCH " + own + "/status"));
  EXPECT_THAT(server.get(path), HasSubstr("\"operation\":\"Apply\""));
}

TEST_F(ReconcilerTest, makes_a_child_again_that_somebody_deleted) {
  settle();
  const std::string path = core + "services/llm";
  const Parsed gone(server.get(path));
  server.remove(path);
  store.drop_child(ChildType::service, gone);
  const Pass pass = run();
  EXPECT_EQ(pass.repairs, 1U);
  EXPECT_THAT(server.take_requests(), Contains("POST " + core + "services"));
  EXPECT_THAT(store.snapshot(llm).lost, IsEmpty());
}

TEST_F(ReconcilerTest, removes_what_is_not_planned_any_more_and_nothing_else) {
  change(R"({"spec":{"expose":{"ingress":{"enabled":true,"host":"llm.example.com"}}}})");
  settle();
  const std::string path = "/apis/networking.k8s.io/v1/namespaces/ml/ingresses/llm";
  ASSERT_NE(server.get(path), "");
  change(R"({"spec":{"expose":null},"metadata":{"generation":2}})");
  EXPECT_EQ(run().result, Pass::Result::settled);
  EXPECT_EQ(server.get(path), "");
  EXPECT_THAT(server.take_requests(), AllOf(Contains("DELETE " + path), Not(Contains(StartsWith("POST")))));
}

TEST_F(ReconcilerTest, removes_no_namesake_of_its_child) {
  change(R"({"spec":{"expose":{"ingress":{"enabled":true,"host":"llm.example.com"}}}})");
  settle();
  const std::string path = "/apis/networking.k8s.io/v1/namespaces/ml/ingresses/llm";
  server.remove(path);  // the event is still under way
  server.put(path, R"({"metadata":{"name":"llm","namespace":"ml","uid":"another"}})");
  change(R"({"spec":{"expose":null},"metadata":{"generation":2}})");
  EXPECT_EQ(run().result, Pass::Result::try_again);
  EXPECT_THAT(server.get(path), HasSubstr("another"));
  EXPECT_EQ(run().result, Pass::Result::settled) << "it has seen whose it is";
  EXPECT_THAT(server.get(path), HasSubstr("another"));
}

TEST_F(ReconcilerTest, leaves_a_resource_alone_that_is_being_deleted) {
  settle();
  change(R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}})");
  EXPECT_EQ(run().result, Pass::Result::settled);
  EXPECT_THAT(server.take_requests(), IsEmpty());
}

TEST_F(ReconcilerTest, never_touches_a_strangers_object_and_says_so) {
  const std::string path = core + "services/llm";
  const std::string strangers =
      server.put(path, R"({"metadata":{"name":"llm","namespace":"ml"},"spec":{"clusterIP":"10.0.0.9"}})");
  const Pass pass = run();
  EXPECT_EQ(pass.result, Pass::Result::try_again);
  EXPECT_EQ(pass.waiting, Pass::Waiting::for_a_person);
  EXPECT_TRUE(pass.news);
  EXPECT_EQ(server.get(path), strangers);
  EXPECT_THAT(server.take_requests(), AllOf(Not(Contains("PATCH " + path)), Not(Contains("DELETE " + path))));
  EXPECT_THAT(status(), HasSubstr("\"reason\":\"NameTaken\""));
  EXPECT_THAT(events, Contains("NameTaken"));

  EXPECT_EQ(run().waiting, Pass::Waiting::for_a_person);  // it looks, and only that
  EXPECT_THAT(server.take_requests(), Each(StartsWith("GET ")));

  server.remove(path);
  EXPECT_EQ(run().result, Pass::Result::settled);
  EXPECT_THAT(server.take_requests(), Contains("POST " + core + "services"));
  EXPECT_THAT(status(), Not(HasSubstr("NameTaken")));
}

TEST_F(ReconcilerTest, takes_an_orphan_back) {
  settle();
  const std::string path = apps + "deployments/llm";
  server.change(path, R"({"metadata":{"ownerReferences":null}})");
  see(ChildType::deployment, path);
  const Pass pass = run();
  EXPECT_EQ(pass.result, Pass::Result::settled) << pass.error;
  EXPECT_EQ(pass.repairs, 1U);
  EXPECT_THAT(server.take_requests(), ElementsAre("PATCH " + path));
  EXPECT_THAT(server.get(path), HasSubstr("\"uid\":\"uid-llm\""));
}

TEST_F(ReconcilerTest, takes_an_orphan_back_only_as_it_was_judged) {
  settle();
  const std::string path = apps + "deployments/llm";
  server.change(path, R"({"metadata":{"ownerReferences":null}})");
  see(ChildType::deployment, path);
  server.change(path, R"({"metadata":{"labels":{"app.kubernetes.io/managed-by":"somebody"}}})");  // let go meanwhile
  EXPECT_EQ(run().result, Pass::Result::try_again);
  EXPECT_THAT(server.get(path), Not(HasSubstr("uid-llm")));
}

TEST_F(ReconcilerTest, waits_for_what_a_former_resource_of_the_name_still_owns) {
  server.put(core + "services/llm",
             R"({"metadata":{"name":"llm","namespace":"ml","labels":{"app.kubernetes.io/managed-by":"stackgate",
                 "app.kubernetes.io/component":"inference","app.kubernetes.io/instance":"llm"},
                 "ownerReferences":[{"apiVersion":"stackgate.dev/v1alpha1","kind":"InferenceService","name":"llm",
                 "uid":"uid-before","controller":true}]}})");
  const Pass pass = run();
  EXPECT_EQ(pass.result, Pass::Result::try_again);
  EXPECT_EQ(pass.waiting, Pass::Waiting::for_deletion);
  EXPECT_THAT(server.get(core + "services/llm"), HasSubstr("uid-before"));
}

TEST_F(ReconcilerTest, writes_nothing_without_the_lease) {
  leads = false;
  const Pass pass = run();
  EXPECT_EQ(pass.result, Pass::Result::try_again);
  EXPECT_EQ(pass.error, "not the leader any more");
  EXPECT_THAT(server.take_requests(), IsEmpty());
}

struct Refusal {
  const char* name;
  int status;
  const char* reason;
  const char* message;
  const char* shown;  // the reason in the status; empty: none, another try may cure it
};
class RefusedChild : public ReconcilerTest, public ::testing::WithParamInterface<Refusal> {};

TEST_P(RefusedChild, is_tried_again_and_shown_where_only_a_person_can_help) {
  const Refusal& given = GetParam();
  server.refuse("POST " + core + "services", given.status, given.reason, given.message);
  const Pass pass = run();
  EXPECT_EQ(pass.result, Pass::Result::try_again);
  EXPECT_THAT(pass.error, HasSubstr(given.message));
  EXPECT_NE(server.get(apps + "deployments/llm"), "") << "one refusal must not keep the others back";
  if (*given.shown == '\0') {
    EXPECT_THAT(status(), Not(HasSubstr(given.message)));
  } else {
    EXPECT_THAT(status(), HasSubstr(fmt::format("\"reason\":\"{}\"", given.shown)));
    EXPECT_THAT(events, Contains(given.shown));
  }
  EXPECT_EQ(run().result, Pass::Result::settled);
  EXPECT_NE(server.get(core + "services/llm"), "");
  EXPECT_THAT(status(), Not(HasSubstr(given.message)));
}

INSTANTIATE_TEST_SUITE_P(
    Answers, RefusedChild,
    ::testing::Values(Refusal{"broken", 500, "InternalError", "etcd is away", ""},
                      Refusal{"quota", 403, "Forbidden", "exceeded quota: small", "QuotaExceeded"},
                      Refusal{"forbidden", 403, "Forbidden", "may not create services", "Forbidden"},
                      Refusal{"webhook", 403, "Forbidden", "admission webhook denied the request", "ChildRefused"},
                      Refusal{"invalid", 422, "Invalid", "spec.ports: Required value", "ChildRefused"}),
    [](const auto& instance) { return instance.param.name; });

TEST_F(ReconcilerTest, judges_once_more_where_a_name_was_taken_for_a_moment) {
  server.refuse("POST " + core + "services", 409, "AlreadyExists", "services \"llm\" already exists");
  EXPECT_EQ(run().result, Pass::Result::settled);
  const auto requests = server.take_requests();
  EXPECT_THAT(requests, Contains("GET " + core + "services/llm"));
  EXPECT_EQ(std::ranges::count(requests, "POST " + core + "services"), 2);
}

TEST_F(ReconcilerTest, leaves_the_children_alone_when_the_resource_is_deleted_before_they_are_judged_once_more) {
  server.refuse("POST " + core + "services", 409, "AlreadyExists", "services \"llm\" already exists");
  server.before_answer([this](const std::string& line, const std::string&) {
    if (line == "POST " + core + "serviceaccounts")
      change(R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}})");
  });
  run();
  const auto requests = server.take_requests();
  EXPECT_THAT(requests, Contains("POST " + core + "serviceaccounts"));
  EXPECT_THAT(requests, Not(Contains(StartsWith("DELETE "))));
}

TEST_F(ReconcilerTest, tries_an_update_again_that_met_a_conflict) {
  settle();
  const std::string path = core + "services/llm";
  server.change(path, R"({"spec":{"type":"NodePort"}})");
  see(ChildType::service, path);
  server.refuse("PATCH " + path, 409, "Conflict", "the object has been modified");
  const Pass pass = run();
  EXPECT_EQ(pass.result, Pass::Result::try_again);
  EXPECT_THAT(pass.error, HasSubstr("the object has been modified"));
  EXPECT_THAT(status(), Not(HasSubstr("modified"))) << "that is everyday life";
  EXPECT_EQ(run().result, Pass::Result::settled);
  EXPECT_THAT(server.get(path), Not(HasSubstr("NodePort")));
}

TEST_F(ReconcilerTest, asks_again_at_once_where_the_server_was_busy) {
  server.refuse("POST " + core + "services", 429, "TooManyRequests", "busy", 2);
  EXPECT_EQ(run().result, Pass::Result::settled);
  const auto requests = server.take_requests();
  EXPECT_EQ(std::ranges::count(requests, "POST " + core + "services"), 3);
  EXPECT_EQ(requests[requests.size() - 2], "POST " + apps + "deployments") << "what it needs was not there before";
}

TEST_F(ReconcilerTest, replaces_the_lists_where_an_item_stands_in_the_way) {
  settle();
  const std::string path = core + "services/llm";
  server.change(path, R"({"spec":{"type":"NodePort"}})");
  see(ChildType::service, path);
  server.refuse("PATCH " + path, 422, "Invalid", "spec.ports[1].name: Duplicate value: \"api\"");
  EXPECT_EQ(run().result, Pass::Result::settled);
  const auto requests = server.take_requests();
  EXPECT_EQ(std::ranges::count(requests, "PATCH " + path), 2);
  EXPECT_THAT(server.get(path), Not(HasSubstr("NodePort")));
}

TEST_F(ReconcilerTest, a_status_that_the_server_refuses_is_written_by_the_next_pass) {
  server.refuse("PATCH " + own + "/status", 409, "Conflict", "modified");
  EXPECT_EQ(run().result, Pass::Result::try_again);
  EXPECT_THAT(events, IsEmpty()) << "an event goes with a status that was written";
  server.take_requests();
  EXPECT_EQ(run().result, Pass::Result::settled);
  EXPECT_THAT(server.take_requests(), ElementsAre("PATCH " + own + "/status"));
}

TEST_F(ReconcilerTest, the_status_of_a_namesake_is_never_written) {
  server.remove(own);
  server.put(own, R"({"metadata":{"name":"llm","namespace":"ml","uid":"another"}})");
  EXPECT_EQ(run().result, Pass::Result::try_again);
  EXPECT_THAT(status(), Not(HasSubstr("observedGeneration")));
}

TEST_F(ReconcilerTest, a_controller_goes_on_until_all_is_written) {
  server.refuse("POST " + core + "services", 500, "InternalError", "etcd is away", 3);
  server.refuse("PATCH " + own + "/status", 409, "Conflict", "modified", 2);
  metrics::Registry registry;
  ReconcileMetrics telemetry(registry);
  Controller controller(*reconciler, store, telemetry, 2);
  controller.changed(llm);
  EXPECT_THAT(server.take_requests(), IsEmpty()) << "it does not lead";
  controller.lead();
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  const auto is_done = [&] {
    return status().contains("observedGeneration") && !server.get(core + "services/llm").empty();
  };
  while (!is_done() && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  controller.stop();
  EXPECT_NE(server.get(core + "services/llm"), "");
  EXPECT_THAT(status(), HasSubstr("\"observedGeneration\":1"));
}

}  // namespace reconciler_test
}  // namespace stackgate::reconcile
