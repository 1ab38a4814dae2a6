#include "services/inference/adapters/catalogue/two_tier_lru.hpp"

#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::inference {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

bool nobody(TwoTierLru::Key) { return false; }

TEST(TwoTierLru, the_least_recently_used_leaves_first) {
  TwoTierLru lru(1, 3);
  for (const TwoTierLru::Key key : {1UL, 2UL, 3UL}) {
    EXPECT_THAT(lru.admit(key, nobody), Optional(IsEmpty()));
    lru.touch(key, nobody);
  }
  EXPECT_EQ(lru.residency_of(1), Residency::memory);
  EXPECT_EQ(lru.residency_of(3), Residency::resident);
  lru.touch(1, nobody);
  EXPECT_EQ(lru.residency_of(1), Residency::resident);
  EXPECT_EQ(lru.residency_of(3), Residency::memory);
  EXPECT_THAT(lru.admit(4, nobody), Optional(ElementsAre(2)));
  EXPECT_EQ(lru.residency_of(2), Residency::disk);
}

TEST(TwoTierLru, who_is_in_use_stays) {
  TwoTierLru lru(1, 2);
  lru.admit(1, nobody);
  lru.touch(1, nobody);
  lru.admit(2, nobody);
  const auto first = [](TwoTierLru::Key key) { return key == 1; };
  lru.touch(2, first);
  EXPECT_EQ(lru.residency_of(1), Residency::resident);
  EXPECT_EQ(lru.residency_of(2), Residency::memory) << "the slot is in use";
  EXPECT_THAT(lru.admit(3, first), Optional(ElementsAre(2)));
  EXPECT_EQ(lru.admit(4, [](TwoTierLru::Key) { return true; }), std::nullopt);
  lru.erase(1);
  EXPECT_TRUE(lru.has_room());
}

TEST(TwoTierLru, keeps_its_bounds_whatever_comes) {
  std::mt19937 dice(1);
  TwoTierLru lru(3, 5);
  std::set<TwoTierLru::Key> used;
  const auto in_use = [&](TwoTierLru::Key key) { return used.contains(key); };
  for (int i = 0; i < 20'000; ++i) {
    const TwoTierLru::Key key = dice() % 9;
    if (dice() % 7 == 0) {
      if (!used.erase(key) && lru.residency_of(key) != Residency::disk && used.size() < 4) used.insert(key);
    } else if (lru.residency_of(key) == Residency::disk) {
      lru.admit(key, in_use);
    } else {
      lru.touch(key, in_use);
    }
    std::size_t residents = 0;
    for (TwoTierLru::Key each = 0; each < 9; ++each) residents += lru.residency_of(each) == Residency::resident;
    ASSERT_LE(residents, 3);
    ASSERT_LE(lru.size(), 5);
    for (const TwoTierLru::Key each : used) ASSERT_NE(lru.residency_of(each), Residency::disk);
  }
}

}  // namespace
}  // namespace stackgate::inference
