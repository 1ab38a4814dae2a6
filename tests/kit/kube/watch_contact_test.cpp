#include "services/kit/kube/watch_contact.hpp"

#include <gmock/gmock.h>

namespace stackgate::kube {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const Contact::Clock::time_point start{1000s};

TEST(Contact, is_there_until_an_attempt_fails) {
  Contact contact;
  EXPECT_FALSE(contact.lost());
  EXPECT_FALSE(contact.report_loss(start + 1h)) << "a quiet watch is no loss";
  EXPECT_EQ(contact.lost_for(start + 1h), 0s);
  EXPECT_EQ(contact.problem(start + 1h), "");
}

TEST(Contact, that_is_lost_is_told_once_when_it_has_lasted_for_some_seconds) {
  Contact contact;
  contact.failed(start, "connection refused");
  EXPECT_FALSE(contact.report_loss(start + Contact::patience - 1ms));
  EXPECT_EQ(contact.due(), start + Contact::patience);
  EXPECT_EQ(contact.problem(start + Contact::patience - 1ms), "");
  EXPECT_TRUE(contact.report_loss(start + Contact::patience));
  EXPECT_FALSE(contact.report_loss(start + 1h));
  EXPECT_EQ(contact.due(), std::nullopt);
}

TEST(Contact, is_lost_since_the_first_failure_and_tells_the_last_one) {
  Contact contact;
  contact.failed(start, "connection reset");
  contact.failed(start + 40s, "connection refused");
  EXPECT_EQ(contact.lost_for(start + 42s), 42s);
  EXPECT_EQ(contact.problem(start + 42s), "no answer from the API server for 42 s: connection refused");
}

TEST(Contact, that_is_back_says_how_long_it_was_away_if_that_was_told) {
  Contact contact;
  EXPECT_EQ(contact.answered(start), std::nullopt);
  contact.failed(start, "reset");
  EXPECT_EQ(contact.answered(start + 4s), std::nullopt) << "nobody was told that it was away";
  EXPECT_EQ(contact.problem(start + 10s), "");
  contact.failed(start + 20s, "reset");
  ASSERT_TRUE(contact.report_loss(start + 25s));
  EXPECT_EQ(contact.answered(start + 50s), 30s);
  EXPECT_EQ(contact.answered(start + 51s), std::nullopt) << "once";
  EXPECT_EQ(contact.lost_for(start + 60s), 0s);
  EXPECT_EQ(contact.error(), "");
}

TEST(Contact, lost_again_is_told_again_and_counts_anew) {
  Contact contact;
  contact.failed(start, "reset");
  contact.answered(start + 3s);
  contact.failed(start + 4s, "reset");
  EXPECT_FALSE(contact.report_loss(start + 6s));
  EXPECT_TRUE(contact.report_loss(start + 9s));
}

}  // namespace
}  // namespace stackgate::kube
