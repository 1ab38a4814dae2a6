// The rules of reloading, step by step and without files.
#include "certs/reloader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/certs/pairs.hpp"

namespace stackgate::certs {
namespace {

using namespace test;
using Outcome = Reloader::Outcome;
using testing::HasSubstr;

struct ReloaderTest : testing::Test {
  PemPair ca = make_ca();
  PemPair first = make_leaf(ca), second = make_leaf(ca);
  Reloader reloader;
  std::string serial() const { return reloader.identity() ? reloader.identity()->leaf.serial : "none"; }
  std::string serial_of(const PemPair& pair) const { return must(describe(pair.certificates)).serial; }
};

TEST_F(ReloaderTest, takes_the_first_good_pair_and_leaves_it_alone) {
  EXPECT_EQ(reloader.offer(first, now()), Outcome::accepted);
  EXPECT_EQ(serial(), serial_of(first));
  EXPECT_EQ(reloader.offer(first, now()), Outcome::unchanged);
  EXPECT_EQ(reloader.accepted(), 1U);
}

TEST_F(ReloaderTest, a_certificate_that_arrives_before_its_key_changes_nothing_until_the_key_is_there) {
  reloader.offer(first, now());
  EXPECT_EQ(reloader.offer(PemPair{second.certificates, first.key}, now()), Outcome::refused);
  EXPECT_EQ(serial(), serial_of(first));
  EXPECT_THAT(reloader.error(), HasSubstr("does not belong"));
  EXPECT_EQ(reloader.offer(second, now()), Outcome::accepted);
  EXPECT_EQ(serial(), serial_of(second));
  EXPECT_EQ(reloader.error(), "");
}

TEST_F(ReloaderTest, each_fault_counts_once_however_often_it_is_seen) {
  reloader.offer(first, now());
  const PemPair broken{"x", "y"}, otherwise_broken{second.certificates, ""};
  EXPECT_EQ(reloader.offer(broken, now()), Outcome::refused);
  EXPECT_EQ(reloader.offer(broken, now()), Outcome::unchanged);
  EXPECT_EQ(reloader.offer(otherwise_broken, now()), Outcome::refused);
  const std::expected<PemPair, Error> unreadable = std::unexpected(Error{"cannot read"});
  EXPECT_EQ(reloader.offer(unreadable, now()), Outcome::refused);
  EXPECT_EQ(reloader.offer(unreadable, now()), Outcome::unchanged);
  EXPECT_EQ(reloader.refused(), 3U);
  EXPECT_EQ(serial(), serial_of(first));
}

TEST_F(ReloaderTest, going_back_to_the_served_pair_clears_the_error) {
  reloader.offer(first, now());
  reloader.offer(PemPair{"x", "y"}, now());
  EXPECT_EQ(reloader.offer(first, now()), Outcome::unchanged);
  EXPECT_EQ(reloader.error(), "");
  EXPECT_EQ(reloader.offer(PemPair{"x", "y"}, now()), Outcome::refused);  // a new occurrence
}

TEST_F(ReloaderTest, a_pair_from_the_future_is_taken_when_its_time_has_come) {
  reloader.offer(first, now());
  const auto early = make_leaf(ca, now() + 5min, now() + 2h);
  EXPECT_EQ(reloader.offer(early, now()), Outcome::refused);
  EXPECT_EQ(reloader.offer(early, now() + 1min), Outcome::unchanged);
  EXPECT_EQ(reloader.offer(early, now() + 5min), Outcome::accepted);
}

TEST_F(ReloaderTest, an_expired_pair_never_replaces_a_good_one_and_a_served_one_stays_after_its_end) {
  reloader.offer(first, now());
  EXPECT_EQ(reloader.offer(make_leaf(ca, now() - 2h, now() - 1h), now()), Outcome::refused);
  EXPECT_EQ(serial(), serial_of(first));
  EXPECT_EQ(reloader.offer(first, now() + 48h), Outcome::unchanged);
  EXPECT_EQ(serial(), serial_of(first));
}

}  // namespace
}  // namespace stackgate::certs
