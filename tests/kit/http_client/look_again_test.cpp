#include "services/kit/http_client/look_again.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::http_client {
namespace {

using testing::ElementsAre;

std::vector<int> waits(LookAgain& look, int count, bool requests_under_way, int wait_ms = 60'000) {
  std::vector<int> out;
  for (int i = 0; i < count; ++i) out.push_back(look.at_most(wait_ms, requests_under_way));
  return out;
}

TEST(LookAgain, looks_ever_less_often_and_then_sleeps) {
  LookAgain look;
  EXPECT_THAT(waits(look, 9, false), ElementsAre(1, 2, 4, 8, 16, 32, 64, 60'000, 60'000));
}

TEST(LookAgain, goes_on_while_requests_are_under_way) {
  LookAgain look;
  EXPECT_THAT(waits(look, 9, true), ElementsAre(1, 2, 4, 8, 16, 32, 64, 64, 64));
}

TEST(LookAgain, begins_anew_when_something_moves) {
  LookAgain look;
  waits(look, 9, true);
  look.moved();
  EXPECT_THAT(waits(look, 3, true), ElementsAre(1, 2, 4));
}

TEST(LookAgain, never_sleeps_beyond_a_timer) {
  LookAgain look;
  EXPECT_THAT(waits(look, 4, true, 3), ElementsAre(1, 2, 3, 3));
}

}  // namespace
}  // namespace stackgate::http_client
