#include "services/datastore/accounts/failures.hpp"

#include <gtest/gtest.h>

namespace stackgate::datastore {
namespace {

using std::chrono::seconds;
const FailedSignIns::Time start{std::chrono::hours(1000)};
const FailedSignIns::Limits small{
    .free = 3, .free_per_address = 5, .first = seconds(2), .most = seconds(8), .forget = seconds(60)};

TEST(FailedSignIns, CostNothingUntilTheFreeOnesAreUsedThenTheWaitDoublesToItsMost) {
  FailedSignIns limits(small);
  const long expected[] = {0, 0, 0, 2, 4, 8, 8};
  for (const long wait : expected) {
    limits.failed("ann", "10.0.0.1", start);
    EXPECT_EQ(std::min<long>(limits.wait("ann", "10.0.0.1", start).count(), 8), wait);
  }
}

TEST(FailedSignIns, OfOneAccountFromOneAddressHoldUpNeitherOtherAddressesNorOtherAccounts) {
  FailedSignIns limits(small);
  for (int i = 0; i < 4; ++i) limits.failed("ann", "10.0.0.1", start);
  EXPECT_EQ(limits.wait("ann", "10.0.0.1", start), seconds(2));
  EXPECT_EQ(limits.wait("ann", "10.0.0.2", start), seconds(0));
  EXPECT_EQ(limits.wait("bob", "10.0.0.1", start), seconds(0));
}

TEST(FailedSignIns, SpreadOverManyAccountsHoldUpTheAddress) {
  FailedSignIns limits(small);
  for (int i = 0; i < 6; ++i) limits.failed("a" + std::to_string(i), "10.0.0.1", start);
  EXPECT_EQ(limits.wait("somebody", "10.0.0.1", start), seconds(2));
  EXPECT_EQ(limits.wait("somebody", "10.0.0.2", start), seconds(0));
}

TEST(FailedSignIns, WaitEndsWithTimeAndASuccessForgetsTheAccountsFailures) {
  FailedSignIns limits(small);
  for (int i = 0; i < 4; ++i) limits.failed("ann", "h", start);
  EXPECT_EQ(limits.wait("ann", "h", start + std::chrono::milliseconds(500)), seconds(2));
  EXPECT_EQ(limits.wait("ann", "h", start + seconds(2)), seconds(0));
  limits.succeeded("ann", "h");
  limits.failed("ann", "h", start + seconds(3));
  EXPECT_EQ(limits.wait("ann", "h", start + seconds(3)), seconds(0));
}

TEST(FailedSignIns, AreForgottenAfterAQuietTime) {
  FailedSignIns limits(small);
  for (int i = 0; i < 3; ++i) limits.failed("ann", "h", start);
  limits.failed("ann", "h", start + seconds(61));
  EXPECT_EQ(limits.wait("ann", "h", start + seconds(61)), seconds(0));
}

TEST(FailedSignIns, AreBoundedTheOldestGoFirst) {
  auto bounded = small;
  bounded.entries = 10;
  FailedSignIns limits(bounded);
  for (int i = 0; i < 4; ++i) limits.failed("ann", "h", start);
  for (int i = 0; i < 100; ++i) limits.failed("ann", "h" + std::to_string(i), start);
  EXPECT_LE(limits.size(), 10U);
  EXPECT_EQ(limits.wait("ann", "h", start), seconds(0));
}

}  // namespace
}  // namespace stackgate::datastore
