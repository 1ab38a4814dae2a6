#include "reconcile/observe/store.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reconcile/control/parsed.hpp"

namespace stackgate::reconcile {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

using tests::Parsed;
using validate::ReferenceKind;

Parsed service(std::string_view name, int version, std::string_view state = "") {
  return Parsed(fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"ml","uid":"uid-{0}","resourceVersion":"{1}","generation":3}},)"
      R"("spec":{{}},"status":{{"state":"{2}"}}}})",
      name, version, state));
}

Parsed child(std::string_view name, std::string_view owner, int version, std::string_view uid = "c") {
  return Parsed(fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"ml","uid":"{3}","resourceVersion":"{2}",)"
      R"("labels":{{"app.kubernetes.io/managed-by":"stackgate"}},"managedFields":[{{"manager":"x"}}],)"
      R"("ownerReferences":[{{"apiVersion":"stackgate.dev/v1alpha1","kind":"InferenceService","name":"{1}",)"
      R"("uid":"uid-{1}","controller":true}}]}},"data":{{"a":"b"}}}})",
      name, owner, version, uid));
}

const Key llm{crds::Kind::inference_service, "ml", "llm"};

class StoreTest : public ::testing::Test {
 protected:
  std::vector<std::string> told;
  cluster::State state{cluster::State::Contents::yes};
  Store store{state, [this](const Key& key) { told.push_back(key.name); }};
  std::vector<std::string> news() { return std::exchange(told, {}); }
};

TEST_F(StoreTest, gives_a_resource_with_all_that_belongs_to_it) {
  state.sink(llm.kind).upsert(service("llm", 1));
  store.put_child(ChildType::service, child("llm", "llm", 2));
  store.put_pod(
      Parsed(R"({"metadata":{"name":"llm-1","namespace":"ml","labels":{"app.kubernetes.io/managed-by":)"
             R"("stackgate","app.kubernetes.io/component":"inference","app.kubernetes.io/instance":"llm"}}})"));
  const Snapshot snapshot = store.snapshot(llm);
  ASSERT_TRUE(snapshot.resource);
  EXPECT_EQ(snapshot.resource->generation, 3);
  ASSERT_EQ(snapshot.children.size(), 1U);
  EXPECT_EQ(snapshot.children[0].owner_uid, "uid-llm");
  ASSERT_EQ(snapshot.pods.size(), 1U);
  EXPECT_THAT(news(), ElementsAre("llm", "llm", "llm"));
}

TEST_F(StoreTest, drops_what_nobody_reads) {
  store.put_child(ChildType::secret, child("key", "llm", 2));
  const std::string& json = *store.snapshot(llm).children.at(0).json;
  EXPECT_FALSE(json.contains("managedFields")) << json;
  EXPECT_FALSE(json.contains(R"("data":)")) << "a Secret's values stay out of memory: " << json;
}

TEST_F(StoreTest, does_not_tell_twice_of_the_same_version) {
  state.sink(llm.kind).upsert(service("llm", 5));
  store.put_child(ChildType::service, child("llm", "llm", 6));
  news();
  state.sink(llm.kind).upsert(service("llm", 5));
  store.put_child(ChildType::service, child("llm", "llm", 6));
  EXPECT_THAT(news(), IsEmpty());
}

TEST_F(StoreTest, an_older_event_never_overwrites_a_newer_write) {
  state.sink(llm.kind).upsert(service("llm", 5));
  store.wrote_child(ChildType::service, child("llm", "llm", 9), llm);
  news();
  store.put_child(ChildType::service, child("llm", "llm", 7));
  EXPECT_EQ(store.snapshot(llm).children.at(0).version, 9U);
  EXPECT_THAT(news(), IsEmpty());
  store.put_child(ChildType::service, child("llm", "llm", 3, "another"));
  EXPECT_EQ(store.snapshot(llm).children.at(0).uid, "another") << "one that was made again has versions of its own";
}

TEST_F(StoreTest, an_event_about_a_former_namesake_removes_nothing) {
  store.wrote_child(ChildType::service, child("llm", "llm", 9, "new"), llm);
  store.drop_child(ChildType::service, child("llm", "llm", 8, "old"));
  EXPECT_EQ(store.snapshot(llm).children.size(), 1U);
}

TEST_F(StoreTest, remembers_which_children_somebody_else_deleted) {
  const auto lost = [&] { return store.snapshot(llm).lost; };
  const std::pair<ChildType, std::string> gone{ChildType::service, "llm"};
  state.sink(llm.kind).upsert(service("llm", 5));
  store.put_child(ChildType::service, child("llm", "llm", 6));
  store.drop_child(ChildType::service, child("llm", "llm", 7));
  EXPECT_THAT(lost(), ElementsAre(gone));
  store.wrote_child(ChildType::service, child("llm", "llm", 8, "again"), llm);
  EXPECT_THAT(lost(), IsEmpty()) << "it is back";
  store.forget_child(llm, ChildType::service, "llm", "again");
  store.drop_child(ChildType::service, child("llm", "llm", 9, "again"));
  EXPECT_THAT(lost(), IsEmpty()) << "we deleted it ourselves";

  store.put_child(ChildType::service, child("llm", "llm", 10, "third"));
  store.drop_child(ChildType::service, child("llm", "llm", 11, "third"));
  store.forget_lost(llm, {{ChildType::role, "llm"}});
  EXPECT_THAT(lost(), ElementsAre(gone)) << "another one was settled";
  store.forget_lost(llm, lost());
  EXPECT_THAT(lost(), IsEmpty()) << "a pass did not want it";
}

TEST_F(StoreTest, tells_whoever_asked_about_an_object) {
  state.sink(llm.kind).upsert(service("llm", 1));
  store.set_references(llm, {reference("secrets", "ml", "pull"), reference("secrets", "ml", "pull")});
  news();
  const Parsed secret(R"({"metadata":{"name":"pull","namespace":"ml"},"data":{"a":"MQ=="}})");
  state.sink(ReferenceKind::secret).upsert(secret);
  EXPECT_THAT(news(), ElementsAre("llm"));
  state.sink(ReferenceKind::secret).upsert(secret);
  EXPECT_THAT(news(), IsEmpty()) << "nothing has changed in it";
  state.sink(ReferenceKind::secret)
      .upsert(Parsed(R"({"metadata":{"name":"pull","namespace":"ml"},"data":{"a":"Mg=="}})"));
  EXPECT_THAT(news(), ElementsAre("llm"));
  state.sink(ReferenceKind::secret).remove(secret);
  EXPECT_THAT(news(), ElementsAre("llm"));
  store.set_references(llm, {});
  state.sink(ReferenceKind::secret).upsert(secret);
  EXPECT_THAT(news(), IsEmpty());
}

TEST_F(StoreTest, a_resource_that_went_waits_for_nothing) {
  state.sink(llm.kind).upsert(service("llm", 1));
  store.set_references(llm, {reference("secrets", "ml", "pull")});
  state.sink(llm.kind).remove(service("llm", 2));
  news();
  state.sink(ReferenceKind::secret).upsert(Parsed(R"({"metadata":{"name":"pull","namespace":"ml"}})"));
  EXPECT_THAT(news(), IsEmpty());
  EXPECT_EQ(store.sizes().resources, 0U);
}

TEST_F(StoreTest, a_relist_drops_what_it_does_not_name) {
  state.sink(llm.kind).upsert(service("llm", 1, "Ready"));
  state.sink(llm.kind).upsert(service("gone", 1, "Ready"));
  store.put_child(ChildType::service, child("llm", "llm", 2));
  store.put_child(ChildType::service, child("gone", "llm", 2, "g"));
  store.put_child(ChildType::deployment, child("llm", "llm", 2));
  news();
  state.sink(llm.kind).relist_began();
  state.sink(llm.kind).upsert(service("llm", 1, "Ready"));
  EXPECT_EQ(store.sizes().resources, 2U) << "what is held stays valid until the list has ended";
  state.sink(llm.kind).relist_ended();
  EXPECT_THAT(news(), ElementsAre("gone"));
  EXPECT_EQ(store.states(llm.kind).at("Ready"), 1U);
  store.begin_relist(Collection::child, static_cast<unsigned>(ChildType::service));
  store.put_child(ChildType::service, child("llm", "llm", 2));
  store.end_relist(Collection::child, static_cast<unsigned>(ChildType::service));
  EXPECT_THAT(news(), ElementsAre("llm"));
  EXPECT_EQ(store.snapshot(llm).children.size(), 2U);
}

TEST_F(StoreTest, a_relist_does_not_drop_what_was_written_meanwhile_nor_foreign_objects) {
  const Parsed foreign(R"({"metadata":{"name":"taken","namespace":"ml","uid":"f","resourceVersion":"4"}})");
  store.wrote_child(ChildType::service, foreign, llm);
  store.begin_relist(Collection::child, static_cast<unsigned>(ChildType::service));
  store.wrote_child(ChildType::service, child("llm", "llm", 9), llm);
  store.end_relist(Collection::child, static_cast<unsigned>(ChildType::service));
  EXPECT_EQ(store.snapshot(llm).children.size(), 2U);
}

TEST_F(StoreTest, drops_an_object_of_which_only_the_name_is_known) {
  store.put_child(ChildType::service, child("llm", "llm", 2));
  store.drop_child(ChildType::service, Parsed(R"({"metadata":{"name":"llm","namespace":"other"}})"));
  EXPECT_EQ(store.sizes().children, 1U);
  store.drop_child(ChildType::service, Parsed(R"({"metadata":{"name":"llm","namespace":"ml"}})"));
  EXPECT_EQ(store.sizes().children, 0U);
}

TEST_F(StoreTest, knows_claims_that_are_only_named) {
  state.sink(llm.kind).upsert(service("llm", 1));
  store.set_references(llm, {reference("persistentvolumeclaims", "ml", "models")});
  news();
  const Parsed claim(R"({"metadata":{"name":"models","namespace":"ml"},"status":{"phase":"Pending"}})");
  state.sink(ReferenceKind::persistent_volume_claim).relist_began();
  state.sink(ReferenceKind::persistent_volume_claim).upsert(claim);
  state.sink(ReferenceKind::persistent_volume_claim).relist_ended();
  EXPECT_THAT(news(), ElementsAre("llm"));
  ASSERT_NE(state.contents(ReferenceKind::persistent_volume_claim, "ml", "models"), nullptr);
  EXPECT_TRUE(state.contents(ReferenceKind::persistent_volume_claim, "ml", "models")->contains("Pending"));
  EXPECT_EQ(state.contents(ReferenceKind::persistent_volume_claim, "other", "models"), nullptr);
  state.sink(ReferenceKind::persistent_volume_claim).upsert(claim);
  EXPECT_THAT(news(), IsEmpty());
  state.sink(ReferenceKind::persistent_volume_claim).relist_began();
  state.sink(ReferenceKind::persistent_volume_claim).relist_ended();
  EXPECT_THAT(news(), ElementsAre("llm"));
  EXPECT_EQ(state.contents(ReferenceKind::persistent_volume_claim, "ml", "models"), nullptr);
}

TEST_F(StoreTest, the_event_of_an_own_write_is_no_news_although_it_comes_first) {
  state.sink(llm.kind).upsert(service("llm", 1));
  news();
  {
    const Store::OwnWrite writing(store, llm, ChildType::service, "llm");
    store.put_child(ChildType::service, child("llm", "llm", 4));
    EXPECT_EQ(store.snapshot(llm).children.size(), 1U) << "it is filed all the same";
    store.wrote_child(ChildType::service, child("llm", "llm", 4), llm);
  }
  {
    const Store::OwnWrite writing(store, llm);
    state.sink(llm.kind).upsert(service("llm", 5, "Pending"));
    store.wrote_resource(llm, service("llm", 5, "Pending"));
  }
  EXPECT_THAT(news(), IsEmpty());
}

TEST_F(StoreTest, what_others_did_during_an_own_write_is_told_when_it_has_ended) {
  state.sink(llm.kind).upsert(service("llm", 1));
  news();
  {
    const Store::OwnWrite writing(store, llm, ChildType::service, "llm");
    store.put_child(ChildType::service, child("llm", "llm", 4));
    store.put_child(ChildType::service, child("llm", "llm", 6));
    store.wrote_child(ChildType::service, child("llm", "llm", 4), llm);
    EXPECT_THAT(news(), IsEmpty()) << "not while the answer may still explain it";
    state.sink(llm.kind).upsert(service("llm", 7));
    EXPECT_THAT(news(), ElementsAre("llm")) << "another object than the one that is written";
  }
  EXPECT_THAT(news(), ElementsAre("llm"));
  EXPECT_EQ(store.snapshot(llm).children.at(0).version, 6U);
}

// Our request was carried out, its answer got lost, somebody else wrote, and a relist shows both as one: the answer to
// the repeated request, which changes nothing, has the other's version.
TEST_F(StoreTest, what_a_relist_shows_during_an_own_write_is_told) {
  state.sink(llm.kind).upsert(service("llm", 1));
  news();
  const auto of_service = static_cast<unsigned>(ChildType::service);
  {
    const Store::OwnWrite writing(store, llm, ChildType::service, "llm");
    store.begin_relist(Collection::child, of_service);
    store.put_child(ChildType::service, child("llm", "llm", 6));
    store.end_relist(Collection::child, of_service);
    store.wrote_child(ChildType::service, child("llm", "llm", 6), llm);
  }
  EXPECT_THAT(news(), ElementsAre("llm"));
  {
    const Store::OwnWrite writing(store, llm);
    state.sink(llm.kind).relist_began();
    state.sink(llm.kind).upsert(service("llm", 8));
    state.sink(llm.kind).relist_ended();
    store.wrote_resource(llm, service("llm", 8));
  }
  EXPECT_THAT(news(), ElementsAre("llm"));
}

TEST_F(StoreTest, what_came_during_a_write_that_failed_is_told) {
  state.sink(llm.kind).upsert(service("llm", 1));
  news();
  {
    const Store::OwnWrite writing(store, llm);
    state.sink(llm.kind).upsert(service("llm", 5));
  }
  EXPECT_THAT(news(), ElementsAre("llm"));
}

TEST_F(StoreTest, whoever_waits_for_a_resource_hears_of_its_own_write_at_once) {
  const Key other{crds::Kind::inference_service, "ml", "other"};
  state.sink(llm.kind).upsert(service("llm", 1));
  state.sink(llm.kind).upsert(service("other", 2));
  store.set_references(other, {reference("inferenceservices", "ml", "llm")});
  news();
  const Store::OwnWrite writing(store, llm);
  state.sink(llm.kind).upsert(service("llm", 5, "Ready"));
  EXPECT_THAT(news(), ElementsAre("other"));
}

TEST_F(StoreTest, counts_states) {
  state.sink(llm.kind).upsert(service("a", 1, "Ready"));
  state.sink(llm.kind).upsert(service("b", 1, "Ready"));
  state.sink(llm.kind).upsert(service("c", 1));
  state.sink(llm.kind).upsert(service("a", 2, "Failed"));
  const auto states = store.states(llm.kind);
  EXPECT_EQ(states.at("Ready"), 1U);
  EXPECT_EQ(states.at("Failed"), 1U);
  EXPECT_EQ(states.at(""), 1U);
}

TEST_F(StoreTest, remembers_which_plan_left_a_child_as_it_is) {
  store.wrote_child(ChildType::service, child("llm", "llm", 4), llm, "hash");
  EXPECT_EQ(store.snapshot(llm).children.at(0).applied, "hash");
  store.put_child(ChildType::service, child("llm", "llm", 4));
  EXPECT_EQ(store.snapshot(llm).children.at(0).applied, "hash") << "the watch brings the same version";
  store.put_child(ChildType::service, child("llm", "llm", 5));
  EXPECT_EQ(store.snapshot(llm).children.at(0).applied, "") << "somebody has changed it";
}

}  // namespace
}  // namespace stackgate::reconcile
