// What is kept of the cluster, and which changes of it are reported.
#include "cluster_state/state.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/json/parse.hpp"

namespace stackgate::cluster {
namespace state_test {

using crds::Kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using validate::Presence;
using validate::ReferenceKind;

class Parsed {
 public:
  explicit Parsed(std::string text) : text_(std::move(text)) { EXPECT_TRUE(json::parse(text_, document_)) << text_; }
  operator const json::Value&() const { return document_.root; }

 private:
  const std::string text_;
  json::Document document_;
};

Parsed secret(std::string_view value, std::string_view labels = "{}") {
  return Parsed(
      fmt::format(R"({{"metadata":{{"name":"key","namespace":"ml","labels":{}}},"type":"Opaque","data":{{"a":"{}"}}}})",
                  labels, value));
}
Parsed service(int version, std::string_view state = "", std::string_view uid = "u1") {
  return Parsed(fmt::format(
      R"({{"metadata":{{"name":"llm","namespace":"ml","uid":"{}","resourceVersion":"{}","generation":2,"managedFields":[]}},)"
      R"("spec":{{"storage":{{"nimCache":{{"name":"c"}}}}}},"status":{{"state":"{}"}}}})",
      uid, version, state));
}

class StateTest : public testing::Test {
 protected:
  StateTest() {
    state.listen(
        {.referenced =
             [this](ReferenceKind kind, std::string_view ns, std::string_view name) {
               reported.push_back(fmt::format("{} {}/{}", resource_type(kind).plural, ns, name));
             },
         .resource =
             [this](Kind kind, std::string_view ns, std::string_view name, const StoredResource* now, bool listing) {
               reported.push_back(fmt::format("{} {}/{} {}{}", crds::info(kind).plural, ns, name,
                                              now == nullptr ? "gone" : std::to_string(now->version),
                                              listing ? " listing" : ""));
             }});
  }
  std::vector<std::string> take() { return std::exchange(reported, {}); }

  State state{State::Contents::yes};
  kube::WatchSink& secrets = state.sink(ReferenceKind::secret);
  kube::WatchSink& services = state.sink(Kind::inference_service);
  std::vector<std::string> reported;
};

TEST_F(StateTest, has_facts_and_contents_of_what_resources_refer_to) {
  secrets.upsert(secret("c2VjcmV0"));
  const auto found = state.find(ReferenceKind::secret, "ml", "key");
  EXPECT_EQ(found.presence, Presence::present);
  EXPECT_THAT(found.keys, ElementsAre("a"));
  ASSERT_NE(state.contents(ReferenceKind::secret, "ml", "key"), nullptr);
  EXPECT_EQ(state.contents(ReferenceKind::secret, "ml", "key")->size(), 16U);
  EXPECT_EQ(state.contents(ReferenceKind::secret, "ml", "other"), nullptr);
  EXPECT_EQ(state.find(ReferenceKind::secret, "ml", "other").presence, Presence::unknown) << "nothing was listed";

  state.sink(ReferenceKind::persistent_volume_claim)
      .upsert(Parsed(R"({"metadata":{"name":"c","namespace":"ml","managedFields":[]},"status":{"phase":"Bound"}})"));
  const Text claim = state.contents(ReferenceKind::persistent_volume_claim, "ml", "c");
  ASSERT_NE(claim, nullptr);
  EXPECT_THAT(*claim, HasSubstr("Bound"));
  EXPECT_THAT(*claim, Not(HasSubstr("managedFields")));
  EXPECT_EQ(state.objects(), 2U);
}

TEST_F(StateTest, has_our_resources_whole) {
  services.upsert(service(5, "Ready"));
  const auto found = state.resource(Kind::inference_service, "ml", "llm");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->uid, "u1");
  EXPECT_EQ(found->version, 5U);
  EXPECT_EQ(found->generation, 2);
  EXPECT_EQ(found->state, "Ready");
  EXPECT_THAT(*found->json, HasSubstr("nimCache"));
  EXPECT_EQ(state.resource(Kind::inference_service, "ml", "other"), nullptr);
  EXPECT_EQ(state.resource(Kind::inference_cache, "ml", "llm"), nullptr);
}

TEST_F(StateTest, reports_changes_of_what_is_kept_and_nothing_else) {
  secrets.upsert(secret("MQ=="));
  EXPECT_THAT(take(), ElementsAre("secrets ml/key"));
  secrets.upsert(secret("MQ==", R"({"touched":"yes"})"));
  EXPECT_THAT(take(), IsEmpty());
  secrets.upsert(secret("Mg=="));
  EXPECT_THAT(take(), ElementsAre("secrets ml/key"));
  secrets.remove(secret("Mg=="));
  EXPECT_THAT(take(), ElementsAre("secrets ml/key"));
  secrets.remove(secret("Mg=="));
  EXPECT_THAT(take(), IsEmpty()) << "it was gone";
}

TEST_F(StateTest, reports_of_a_relist_what_differs) {
  secrets.upsert(secret("MQ=="));
  services.upsert(service(5));
  take();
  for (kube::WatchSink* sink : {&secrets, &services}) sink->relist_began();
  secrets.upsert(secret("MQ=="));
  services.upsert(service(6));
  for (kube::WatchSink* sink : {&secrets, &services}) sink->relist_ended();
  EXPECT_THAT(take(), ElementsAre("inferenceservices ml/llm 6 listing"));
  for (kube::WatchSink* sink : {&secrets, &services}) {
    sink->relist_began();
    sink->relist_ended();
  }
  EXPECT_THAT(take(), ElementsAre("secrets ml/key", "inferenceservices ml/llm gone listing"));
  EXPECT_EQ(state.objects(), 0U);
}

TEST_F(StateTest, files_the_answer_to_a_write_quietly_and_no_older_event_over_it) {
  services.upsert(service(5));
  take();
  EXPECT_TRUE(state.put_answer(Kind::inference_service, service(7, "Ready")));
  EXPECT_FALSE(state.put_answer(Kind::inference_service, service(7, "Ready")));
  services.upsert(service(6, "Pending"));
  services.upsert(service(7, "Ready"));
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_EQ(state.resource(Kind::inference_service, "ml", "llm")->state, "Ready");
  services.upsert(service(3, "", "u2"));
  EXPECT_THAT(take(), ElementsAre("inferenceservices ml/llm 3")) << "a namesake has versions of its own";
}

TEST(StateOfAGate, has_no_contents) {
  State state(State::Contents::no);
  state.sink(ReferenceKind::secret).upsert(secret("MQ=="));
  state.sink(Kind::inference_service).upsert(service(5));
  EXPECT_EQ(state.contents(ReferenceKind::secret, "ml", "key"), nullptr);
  EXPECT_EQ(state.resource(Kind::inference_service, "ml", "llm"), nullptr);
  EXPECT_EQ(state.find(ReferenceKind::secret, "ml", "key").presence, Presence::present);
  state.sink(Kind::inference_service).upsert(service(4));
  EXPECT_EQ(state.objects(), 2U);
}

}  // namespace state_test
}  // namespace stackgate::cluster
