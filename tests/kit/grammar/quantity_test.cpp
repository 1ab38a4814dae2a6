#include "services/kit/grammar/quantity.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::validate::grammar {
namespace {

using ::testing::HasSubstr;

Quantity must(std::string_view text) {
  auto parsed = parse_quantity(text);
  EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error().problem);
  return parsed.value_or(Quantity{});
}

TEST(Quantity, ReadsEveryFormOfTheGrammar) {
  const std::pair<std::string_view, std::int64_t> table[] = {
      {"0", 0},
      {"1", 1},
      {"+1", 1},
      {"-1", -1},
      {"007", 7},
      {"1.", 1},
      {"1.0", 1},
      {"1k", 1000},
      {"1M", 1'000'000},
      {"1Ki", 1024},
      {"10Gi", 10737418240},
      {"0.5Ki", 512},
      {".5Ki", 512},
      {"1e3", 1000},
      {"1E3", 1000},
      {"1E", 1'000'000'000'000'000'000},
      {"1e+3", 1000},
      {"1000m", 1},
      {"5000e-3", 5},
      {"1000000000n", 1},
      {"1000000u", 1},
      {"1Ei", 1LL << 60},
      {"-0", 0},
      {"0e99999", 0},
      {"1.G", 1'000'000'000},
      {"000000000000000000000000000000000000000000000000000012", 12},
  };
  for (const auto& [text, value] : table) EXPECT_EQ(must(text).to_integer(), value) << text;
}

TEST(Quantity, ComparesExactlyAcrossUnits) {
  EXPECT_EQ(must("1"), must("1000m"));
  EXPECT_LT(must("1G"), must("1Gi"));
  EXPECT_LT(must("999m"), must("1"));
  EXPECT_LT(must("9007199254740992"), must("9007199254740993"));  // where doubles end
  EXPECT_LT(must("1e19"), must("1e20"));
  EXPECT_LT(must("-1"), must("0"));
}

TEST(Quantity, RoundsAwayFromZeroBelowOneNano) {
  EXPECT_EQ(must("0.1n"), must("1n"));
  EXPECT_EQ(must("0.0000000001"), must("1n"));
  EXPECT_EQ(must("1e-2000000000"), must("1n"));
  EXPECT_EQ(must("-0.1n"), must("-1n"));
  EXPECT_EQ(must("1.0000000001"), must("1000000001n"));
  EXPECT_EQ(must("0." + std::string(5000, '0') + "1"), must("1n"));
  EXPECT_EQ(must("0." + std::string(5000, '0')), must("0"));
  EXPECT_EQ(must("0.0000000001Ki"), must("103n"));  // 102.4n
}

TEST(Quantity, CapsBinarySuffixesAtTheLargestInteger) {
  EXPECT_EQ(must("8Ei").to_integer(), INT64_MAX);
  EXPECT_EQ(must("99999999999Ei").to_integer(), INT64_MAX);
  EXPECT_EQ(must("-9Ei").to_integer(), -INT64_MAX);
  EXPECT_EQ(must("10E").to_integer(), std::nullopt);
  EXPECT_EQ(must("10E").rounded_up(), INT64_MAX);
  EXPECT_EQ(must("1e2000000000").sign(), 1);
}

TEST(Quantity, KnowsWholeNumbersAndSigns) {
  EXPECT_FALSE(must("1500m").is_integer());
  EXPECT_EQ(must("1500m").rounded_up(), 2);
  EXPECT_EQ(must("-1500m").rounded_up(), -2);
  EXPECT_TRUE(must("2000m").is_integer());
  EXPECT_EQ(must("-5").sign(), -1);
  EXPECT_EQ(must("-0").sign(), 0);
  EXPECT_EQ(Quantity::from_integer(3), must("3"));
  Quantity sum = must("1500m");
  sum += must("500m");
  EXPECT_EQ(sum, must("2"));
  Quantity large = must("1e30");
  large += large;
  EXPECT_EQ(large, must("1e30"));
}

TEST(Quantity, RefusesOtherTextAndSaysWhatToWrite) {
  const std::pair<std::string_view, std::string_view> table[] = {
      {"", "for example"},
      {"10GB", "\"10Gi\" (binary) or \"10G\" (decimal)"},
      {"1gb", "\"1Gi\" (binary) or \"1G\" (decimal)"},
      {"1g", "\"1Gi\" (binary) or \"1G\" (decimal)"},
      {"4K", "\"4Ki\" (binary) or \"4k\" (decimal)"},
      {"500mi", "\"500Mi\""},
      {"10GiB", "\"10Gi\""},
      {"10gi", "\"10Gi\""},
      {"10 Gi", "\"10Gi\""},
      {" 10Gi", "\"10Gi\""},
      {"10Gi ", "\"10Gi\""},
      {"2 cores", "\"2\""},
      {"1024 bytes", "\"1024\""},
      {"1,5", "units"},
      {"0x10", "units"},
      {"1e", "\"1Ei\" (binary) or \"1E\" (decimal)"},
      {"1e1.5", "2e3"},
      {"1e99999999999", "with a unit"},
      {"+", "for example"},
      {".", "for example"},
      {"-", "for example"},
      {"--1", "for example"},
      {"lots", "for example"},
      {"1Gi1", "units"},
      {"1\xff", "units"},
      {"١", "for example"},
  };
  for (const auto& [text, cure] : table) {
    const auto parsed = parse_quantity(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_FALSE(parsed.error().problem.empty());
    EXPECT_THAT(parsed.error().fix, HasSubstr(std::string(cure))) << text;
  }
}

}  // namespace
}  // namespace stackgate::validate::grammar
