#include "services/kit/base/number.hpp"

#include <cstdint>

#include <gtest/gtest.h>

namespace stackgate {
namespace {

TEST(ToNumber, TakesOneWholeNumberAndNothingElse) {
  EXPECT_EQ(to_number<std::uint64_t>("0"), 0U);
  EXPECT_EQ(to_number<std::uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(to_number<std::int64_t>("-7"), -7);
  EXPECT_EQ(to_number<std::int64_t>("007"), 7);
  EXPECT_EQ(to_number<double>("1.5e3"), 1500);
  for (const char* text : {"", " 1", "1 ", "+1", "1x", "0x1", "-1", "18446744073709551616", "1.0", "one"})
    EXPECT_FALSE(to_number<std::uint64_t>(text)) << text;
}

}  // namespace
}  // namespace stackgate
