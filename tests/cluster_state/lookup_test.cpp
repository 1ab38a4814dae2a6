// Against a real API server: tests/e2e/live/lookup_test.cpp.
#include "cluster_state/lookup.hpp"

#include <latch>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/json/parse.hpp"
#include "validators/children.hpp"

namespace stackgate::cluster {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using validate::Presence;
using validate::ReferenceKind;
using Clock = std::chrono::steady_clock;

template <class Condition>
bool within(std::chrono::milliseconds limit, Condition condition) {
  const auto deadline = Clock::now() + limit;
  while (!condition()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

validate::ReferencedObject referred(ReferenceKind reference_kind, std::string_view text) {
  json::Document document;
  EXPECT_TRUE(json::parse(text, document)) << text;
  return referred_of(reference_kind, document.root);
}

TEST(KeptFacts, of_a_secret_are_the_names_of_its_keys_and_its_type) {
  const auto facts =
      referred(ReferenceKind::secret, R"({"type":"Opaque","data":{"password":"c2VjcmV0","user":"dQ=="}})");
  EXPECT_EQ(facts.presence, Presence::present);
  EXPECT_THAT(facts.keys, ElementsAre("password", "user"));
  EXPECT_EQ(facts.type, "Opaque");
}

TEST(KeptFacts, of_a_config_map_are_the_names_of_text_and_binary_keys) {
  EXPECT_THAT(referred(ReferenceKind::config_map, R"({"data":{"a":"1"},"binaryData":{"b":"dQ=="}})").keys,
              ElementsAre("a", "b"));
  EXPECT_THAT(referred(ReferenceKind::config_map, "{}").keys, IsEmpty());
}

TEST(ConfigMapContents, are_texts_and_decoded_bytes) {
  json::Document document;
  ASSERT_TRUE(json::parse(R"({"data":{"a":"1"},"binaryData":{"b":"dQ==","c":"?"}})", document));
  std::string found;
  for (const auto& each : contents_of(document.root)) found += each.key + "=" + each.bytes + " ";
  EXPECT_EQ(found, "a=1 b=u c= ");
}

TEST(KeptFacts, of_a_claim_are_its_access_modes) {
  EXPECT_THAT(
      referred(ReferenceKind::persistent_volume_claim, R"({"spec":{"accessModes":["ReadWriteMany"]}})").access_modes,
      ElementsAre("ReadWriteMany"));
}

TEST(KeptFacts, of_a_claim_are_its_size_and_class) {
  const auto facts = referred(ReferenceKind::persistent_volume_claim,
                              R"({"spec":{"storageClassName":"local","resources":{"requests":{"storage":"10Gi"}}}})");
  EXPECT_EQ(facts.size, "10Gi");
  EXPECT_EQ(facts.storage_class, "local");
  EXPECT_EQ(referred(ReferenceKind::persistent_volume_claim,
                     R"({"metadata":{"annotations":{"volume.beta.kubernetes.io/storage-class":"old"}},
                         "spec":{"storageClassName":"local"}})")
                .storage_class,
            "old");
  EXPECT_EQ(referred(ReferenceKind::persistent_volume_claim, "{}").storage_class, "");
}

TEST(KeptFacts, of_a_storage_class_is_whether_claims_can_grow) {
  EXPECT_TRUE(referred(ReferenceKind::storage_class, R"({"allowVolumeExpansion":true})").allows_expansion);
  EXPECT_FALSE(referred(ReferenceKind::storage_class, R"({"allowVolumeExpansion":false})").allows_expansion);
  EXPECT_FALSE(referred(ReferenceKind::storage_class, "{}").allows_expansion);
}

TEST(KeptFacts, that_differ_in_what_a_claim_can_become_are_not_one) {
  FactStore store;
  const auto fact = [&store](ReferenceKind kind, std::string_view text) { return store.intern(referred(kind, text)); };
  const auto claim = ReferenceKind::persistent_volume_claim;
  EXPECT_NE(fact(ReferenceKind::storage_class, "{}"),
            fact(ReferenceKind::storage_class, R"({"allowVolumeExpansion":true})"));
  EXPECT_NE(fact(claim, R"({"spec":{"storageClassName":"a"}})"), fact(claim, R"({"spec":{"storageClassName":"b"}})"));
  EXPECT_NE(fact(claim, R"({"spec":{"resources":{"requests":{"storage":"1Gi"}}}})"),
            fact(claim, R"({"spec":{"resources":{"requests":{"storage":"2Gi"}}}})"));
}

TEST(KeptFacts, of_a_cache_are_its_state_and_profiles) {
  const auto facts = referred(ReferenceKind::inference_cache,
                              R"({"status":{"state":"Failed","profiles":[{"name":"a"},{"name":"b"},{"nome":"c"}]}})");
  EXPECT_EQ(facts.state, "Failed");
  EXPECT_THAT(facts.profiles, ElementsAre("a", "b"));
}

TEST(KeptFacts, that_are_equal_are_stored_once) {
  FactStore store;
  const auto a = store.intern(referred(ReferenceKind::secret, R"({"type":"Opaque","data":{"k":"MQ=="}})"));
  const auto b = store.intern(referred(ReferenceKind::secret, R"({"type":"Opaque","data":{"k":"Mg=="}})"));
  const auto c = store.intern(referred(ReferenceKind::secret, R"({"type":"Other","data":{"k":"Mg=="}})"));
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
}

TEST(KeptFacts, of_our_resources_give_the_neighbour_back) {
  json::Document document;
  ASSERT_TRUE(json::parse(R"({"metadata":{"name":"llm","ownerReferences":[{"apiVersion":"stackgate.dev/v1alpha1",
                             "kind":"InferencePipeline","name":"p"}]},"spec":{"image":{"tag":"1.2"},"storage":{"nimCache":{"name":"c"}},
                             "expose":{"service":{"port":8000}}}})",
                          document));
  const auto kind = crds::Kind::inference_service;
  FactStore store;
  const Kept kept = store.keep(kind, document.root);
  const validate::Neighbour made = neighbour_of(kind, "llm", kept),
                            wanted = validate::neighbour_of(kind, document.root);
  EXPECT_EQ(made.name, wanted.name);
  EXPECT_EQ(made.image_tag, "1.2");
  EXPECT_EQ(made.cache, "c");
  EXPECT_EQ(made.owner, "p");
  EXPECT_EQ(made.children, wanted.children);
  EXPECT_FALSE(made.children.empty());
}

TEST(SharedQuestions, are_answered_by_one_that_began_after_each_asker_came) {
  RequestCoalescer<int> coalescer;
  std::atomic<int> asked{0};
  std::latch first_is_out(1), let_first_land(1);
  std::thread first([&] {
    coalescer.run("k", [&] {
      first_is_out.count_down();
      let_first_land.wait();
      return ++asked;
    });
  });
  first_is_out.wait();
  // All of these came while the first was under way: they share one that begins after it.
  std::vector<std::thread> others;
  std::atomic<int> started{0}, second_answers{0};
  for (int i = 0; i < 8; ++i)
    others.emplace_back([&] {
      ++started;
      second_answers += coalescer.run("k", [&] { return ++asked; }) == 2 ? 1 : 0;
    });
  ASSERT_TRUE(within(5s, [&] { return started == 8; }));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(coalescer.run("other", [] { return 7; }), 7) << "another question does not wait";
  let_first_land.count_down();
  first.join();
  for (auto& each : others) each.join();
  EXPECT_EQ(second_answers, 8);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(coalescer.run("k", [&] { return ++asked; }), 3) << "nothing is remembered";
}

}  // namespace
}  // namespace stackgate::cluster
