#include "certs/self_managed_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "certs/issuer.hpp"
#include "certs/self_managed_secret.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::certs {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

const Time start = std::chrono::system_clock::from_time_t(1'800'000'000);
constexpr auto days = [](int n) { return std::chrono::hours(24 * n); };

SelfManagedPolicy policy() { return {.dns_names = {"stackgate.stackgate-system.svc"}, .ip_addresses = {"127.0.0.1"}}; }

/// One step as a replica takes it.
SelfManagedState step(const SelfManagedState& state, Time now, bool published = true) {
  const SelfManagedPlan todo = plan(state, policy(), published, now);
  const auto next = carry_out(todo, state, policy(), now);
  EXPECT_TRUE(next) << next.error().message;
  return *next;
}

const SelfManagedState& fresh() {
  static const SelfManagedState state = step({}, start);
  return state;
}

std::string issuer_of(const SelfManagedState& state) { return describe(state.leaf.certificates)->issuer; }
std::string subject_of(const std::string& pem) { return describe(pem)->subject; }

TEST(SelfManagedPlan, makes_ca_and_leaf_out_of_nothing) {
  const SelfManagedPlan todo = plan({}, policy(), false, start);
  EXPECT_TRUE(todo.make_ca);
  EXPECT_TRUE(todo.make_leaf);
  const SelfManagedState& state = fresh();
  EXPECT_TRUE(verify_chain(state.leaf.certificates, trust_bundle(state), start));
  const auto leaf = describe(state.leaf.certificates);
  EXPECT_THAT(leaf->dns_names, testing::ElementsAre("stackgate.stackgate-system.svc"));
  EXPECT_THAT(leaf->ip_addresses, testing::ElementsAre("127.0.0.1"));
  EXPECT_EQ(leaf->not_after, start + days(90));
  EXPECT_EQ(describe(state.signing.certificates)->not_after, start + days(3650));
}

TEST(SelfManagedPlan, leaves_a_good_state_alone_and_says_when_to_look_again) {
  const SelfManagedPlan todo = plan(fresh(), policy(), true, start + days(1));
  EXPECT_TRUE(todo.nothing_to_do()) << todo.reasons.front();
  EXPECT_THAT(todo.reasons, IsEmpty());
  EXPECT_LE(todo.look_again, start + days(2));
  const SelfManagedPlan late = plan(fresh(), policy(), true, start + days(59) + 12h);
  EXPECT_TRUE(late.nothing_to_do());
  EXPECT_LE(late.look_again, start + days(60)) << "renewal is due then";
}

TEST(SelfManagedPlan, renews_the_leaf_at_two_thirds_of_its_life) {
  EXPECT_TRUE(plan(fresh(), policy(), true, start + days(59)).nothing_to_do());
  const SelfManagedPlan todo = plan(fresh(), policy(), true, start + days(60));
  EXPECT_TRUE(todo.make_leaf);
  EXPECT_FALSE(todo.make_ca || todo.stage_ca || todo.promote_ca);
  const SelfManagedState renewed = step(fresh(), start + days(60));
  EXPECT_EQ(renewed.signing, fresh().signing);
  EXPECT_NE(renewed.leaf, fresh().leaf);
}

TEST(SelfManagedPlan, renews_a_leaf_that_is_not_for_all_our_names) {
  SelfManagedPolicy more = policy();
  more.dns_names.push_back("other.svc");
  const SelfManagedPlan todo = plan(fresh(), more, true, start + 1h);
  EXPECT_TRUE(todo.make_leaf);
  EXPECT_THAT(todo.reasons.at(0), HasSubstr("not for all our names"));
}

struct Broken {
  std::string name;
  std::function<void(SelfManagedState&)> breaks;
  bool new_ca;
};

class BrokenState : public testing::TestWithParam<Broken> {};

TEST_P(BrokenState, is_mended) {
  SelfManagedState state = fresh();
  GetParam().breaks(state);
  const SelfManagedPlan todo = plan(state, policy(), true, start + 2h);
  EXPECT_EQ(todo.make_ca, GetParam().new_ca);
  EXPECT_TRUE(todo.make_leaf);
  const SelfManagedState mended = step(state, start + 2h);
  EXPECT_TRUE(plan(mended, policy(), true, start + 2h).nothing_to_do());
  EXPECT_TRUE(verify_chain(mended.leaf.certificates, trust_bundle(mended), start + 2h));
}

const SelfManagedState& another() {
  static const SelfManagedState state = step({}, start);
  return state;
}

INSTANTIATE_TEST_SUITE_P(
    , BrokenState,
    testing::Values(Broken{"no_leaf", [](auto& s) { s.leaf = {}; }, false},
                    Broken{"leaf_is_no_pem", [](auto& s) { s.leaf.certificates = "x"; }, false},
                    Broken{"leafs_key_is_anothers", [](auto& s) { s.leaf.key = another().leaf.key; }, false},
                    Broken{"leaf_is_of_another_ca", [](auto& s) { s.leaf = another().leaf; }, false},
                    Broken{"no_ca_key", [](auto& s) { s.signing.key.clear(); }, true},
                    Broken{"cas_key_is_anothers", [](auto& s) { s.signing.key = another().signing.key; }, true},
                    Broken{"ca_is_no_pem", [](auto& s) { s.signing.certificates = "-----BEGIN CERTIFICATE-----\nx"; },
                           true},
                    Broken{"ca_is_a_leaf", [](auto& s) { s.signing = s.leaf; }, true}),
    [](const auto& one) { return one.param.name; });

TEST(SelfManagedPlan, keeps_trusting_a_ca_whose_key_was_lost) {
  SelfManagedState state = fresh();
  state.signing.key.clear();
  const SelfManagedState mended = step(state, start + 2h);
  EXPECT_EQ(mended.previous, fresh().signing.certificates);
  EXPECT_TRUE(verify_chain(fresh().leaf.certificates, trust_bundle(mended), start + 2h))
      << "another replica still serves it";
}

TEST(SelfManagedPlan, changes_the_ca_without_a_moment_of_distrust) {
  // Two thirds of ten years.
  const Time due = start + days(2434);
  SelfManagedState state = step(fresh(), due - days(1));
  EXPECT_TRUE(state.next.certificates.empty());
  const SelfManagedState before = state;

  state = step(state, due);
  ASSERT_FALSE(state.next.certificates.empty()) << "a next CA is staged";
  EXPECT_EQ(state.signing, before.signing) << "the old one still signs";
  EXPECT_TRUE(verify_chain(before.leaf.certificates, trust_bundle(state), due));

  EXPECT_TRUE(plan(state, policy(), true, due + 5min).nothing_to_do()) << "not long enough";
  EXPECT_TRUE(plan(state, policy(), false, due + 1h).nothing_to_do()) << "not published everywhere";

  const SelfManagedState staged = state;
  state = step(state, due + 20min);
  EXPECT_EQ(state.signing, staged.next);
  EXPECT_EQ(state.previous, staged.signing.certificates);
  EXPECT_EQ(issuer_of(state), subject_of(staged.next.certificates));
  for (const auto& leaf : {staged.leaf, state.leaf})
    for (const auto& bundle : {trust_bundle(staged), trust_bundle(state)})
      EXPECT_TRUE(verify_chain(leaf.certificates, bundle, due + 20min));

  EXPECT_TRUE(plan(state, policy(), true, due + 20h).nothing_to_do()) << "a replica may still serve the old leaf";
  state = step(state, due + 25h);
  EXPECT_TRUE(state.previous.empty());
  EXPECT_TRUE(plan(state, policy(), true, due + 26h).nothing_to_do());
  EXPECT_NE(trust_bundle(state), trust_bundle(staged));
}

TEST(SelfManagedPlan, takes_the_next_ca_at_once_when_the_one_in_use_is_lost) {
  SelfManagedState state = step(fresh(), start + days(2434));
  state.signing.key.clear();
  const SelfManagedPlan todo = plan(state, policy(), false, start + days(2434) + 1min);
  EXPECT_TRUE(todo.promote_ca);
  EXPECT_FALSE(todo.make_ca);
}

TEST(SelfManagedPlan, starts_over_when_everything_has_expired) {
  const Time late = start + days(4000);
  const SelfManagedState state = step(fresh(), late);
  EXPECT_TRUE(state.previous.empty()) << "nobody accepts an expired CA";
  EXPECT_TRUE(verify_chain(state.leaf.certificates, trust_bundle(state), late));
}

TEST(SelfManagedPlan, drops_a_next_ca_that_cannot_be_used) {
  SelfManagedState state = fresh();
  state.next = {"junk", "junk"};
  const SelfManagedPlan todo = plan(state, policy(), true, start + 1h);
  EXPECT_TRUE(todo.drop_next);
  EXPECT_TRUE(step(state, start + 1h).next.certificates.empty());
}

TEST(SelfManagedPlan, never_issues_a_leaf_that_outlives_its_ca) {
  SelfManagedPolicy brief = policy();
  brief.ca_life = 24h;
  const auto state = carry_out(plan({}, brief, false, start), {}, brief, start);
  ASSERT_TRUE(state);
  EXPECT_EQ(describe(state->leaf.certificates)->not_after, describe(state->signing.certificates)->not_after);
}

/// Two and a half lives of a CA in small steps: at no time is there an unusable leaf, and no step undoes another.
TEST(SelfManagedPlan, lives_through_its_whole_life) {
  SelfManagedPolicy quick = policy();
  quick.ca_life = days(60);
  quick.leaf_life = days(9);
  SelfManagedState state;
  int leaves = 0, cas = 0;
  for (Time now = start; now < start + days(130); now += 17h) {
    SelfManagedPlan todo = plan(state, quick, true, now);
    leaves += todo.make_leaf ? 1 : 0;
    cas += todo.make_ca || todo.promote_ca ? 1 : 0;
    if (!todo.nothing_to_do()) {
      state = *carry_out(todo, state, quick, now);
      todo = plan(state, quick, true, now);
    }
    ASSERT_TRUE(todo.nothing_to_do()) << "two steps at once: " << todo.reasons.front();
    ASSERT_GT(todo.look_again, now);
    ASSERT_TRUE(verify_chain(state.leaf.certificates, trust_bundle(state), now));
  }
  EXPECT_EQ(cas, 4);
  EXPECT_NEAR(leaves, 130 / 6, 4);
}

TEST(SelfManagedSecret, holds_the_state) {
  SelfManagedState state = step(fresh(), start + days(2434));
  const std::string text = new_secret("cert", state);
  json::Document document;
  ASSERT_TRUE(json::parse(text, document));
  EXPECT_EQ(read_secret(document.root), state);
}

TEST(SelfManagedSecret, patch_removes_what_is_gone) {
  const std::string patch = patch_of_secret("7", fresh());
  EXPECT_THAT(patch, HasSubstr(R"("resourceVersion":"7")"));
  EXPECT_THAT(patch, HasSubstr(R"("next-ca.key":null)"));
  EXPECT_THAT(patch, HasSubstr(R"("previous-ca.crt":null)"));
}

TEST(SelfManagedSecret, that_is_nonsense_counts_as_empty) {
  for (const auto* text : {"{}", "[]", R"({"data":7})", R"({"data":{"tls.crt":7,"tls.key":"?"}})"}) {
    json::Document document;
    ASSERT_TRUE(json::parse(text, document));
    EXPECT_EQ(read_secret(document.root), SelfManagedState{}) << text;
  }
}

}  // namespace
}  // namespace stackgate::certs
