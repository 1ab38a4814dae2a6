#include "services/kit/grammar/canonical_quantity.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "services/kit/grammar/quantity.hpp"

namespace stackgate::validate::grammar {
namespace canonical_quantity_test {

struct Echo {
  std::string_view written, given_back;
};

/// What kube-apiserver 1.20.2 answered when a ResourceQuota with that amount was read again.
constexpr Echo echoes[] = {
    {"0", "0"},
    {"0.0", "0"},
    {"0Gi", "0"},
    {"1", "1"},
    {"1000m", "1"},
    {"100m", "100m"},
    {"0.5", "500m"},
    {"1.5", "1500m"},
    {"1.500", "1.500"},
    {"1.50", "1500m"},
    {"+5Gi", "+5Gi"},
    {"007", "007"},
    {"0012Gi", "0012Gi"},
    {"1024", "1024"},
    {"1024Ki", "1Mi"},
    {"1025Ki", "1025Ki"},
    {"1023Mi", "1023Mi"},
    {"8Ki", "8Ki"},
    {"1024Mi", "1Gi"},
    {"16Gi", "16Gi"},
    {"100Gi", "100Gi"},
    {"1000", "1k"},
    {"1000k", "1M"},
    {"1500M", "1500M"},
    {"12e3", "12e3"},
    {"1e3", "1e3"},
    {"1E3", "1E3"},
    {"1e4", "10e3"},
    {"10e3", "10e3"},
    {"0.5Gi", "512Mi"},
    {"1.5Gi", "1536Mi"},
    {"1.3Ki", "1331200m"},
    {"0.1Ki", "102400m"},
    {"2.5Mi", "2560Ki"},
    {"1n", "1m"},
    {"0.1n", "1m"},
    {"0.00000000001", "1m"},
    {"1234567890123456789", "1234567890123456789"},
    {"99999999999999999999", "99999999999999999999"},
    {"8Ei", "9223372036854775807"},
    {"9Ei", "9223372036854775807"},
    {"7Ei", "7Ei"},
    {"1.25e-3", "2e-3"},
    {"1e-9", "1e-3"},
    {"1e0", "1e0"},
    {"100e-2", "1"},
    {"128974848", "128974848"},
    {"129e6", "129e6"},
    {"129M", "129M"},
    {"123Mi", "123Mi"},
    {"0.000001", "1m"},
    {"1u", "1m"},
    {"999999999999999999", "999999999999999999"},
    {"9223372036854775807", "9223372036854775807"},
    {"9223372036854775808", "9223372036854775808"},
    {"3.", "3."},
    {".5", "500m"},
    {"00.5", "500m"},
    {"100000m", "100"},
    {"1200m", "1200m"},
    {"120000u", "120m"},
    {"0.001Ki", "1024m"},
    {"10Ki", "10Ki"},
    {"1023Ki", "1023Ki"},
    {"65536Ki", "64Mi"},
    {"1e18", "1e18"},
    {"1e19", "10e18"},
    {"1e21", "1e21"},
    {"1e30", "1e30"},
    {"5e-1", "500e-3"},
};

/// Amounts finer than 1m stay outside of requests and limits: the API server's parser alone decides.
constexpr Echo fine_echoes[] = {
    {"1n", "1n"},           {"0.1n", "1n"},   {"120u", "120u"},        {"0.000001", "1u"},
    {"1.25e-3", "1250e-6"}, {"1e-9", "1e-9"}, {"0.0001Ki", "102400u"}, {"1000000n", "1m"},
};

TEST(CanonicalQuantity, AmountsComeBackAsTheApiServerWroteThem) {
  for (const Echo& each : echoes) EXPECT_EQ(canonical_resource_amount(each.written), each.given_back) << each.written;
}

TEST(CanonicalQuantity, FinerOnesAreNotRoundedElsewhere) {
  for (const Echo& each : fine_echoes) EXPECT_EQ(canonical_quantity(each.written), each.given_back) << each.written;
}

TEST(CanonicalQuantity, ACanonicalTextIsItsOwnCanonicalTextAndTheSameAmount) {
  for (const Echo& each : echoes) {
    const std::string once = canonical_quantity(each.written).value();
    EXPECT_EQ(canonical_quantity(once), once) << each.written;
    const auto before = parse_quantity(each.written), after = parse_quantity(once);
    ASSERT_TRUE(after) << once;
    EXPECT_TRUE(*before == *after) << each.written << " became " << once;
    EXPECT_EQ(canonical_resource_amount(each.given_back), each.given_back);
  }
}

TEST(CanonicalQuantity, NegativeAmountsAreRoundedAwayFromZero) {
  EXPECT_EQ(canonical_quantity("-1000m"), "-1");
  EXPECT_EQ(canonical_quantity("-1024Ki"), "-1Mi");
  EXPECT_EQ(canonical_resource_amount("-1n"), "-1m");
  EXPECT_EQ(canonical_resource_amount("-999999999n"), "-1");
  EXPECT_EQ(canonical_resource_amount("9.9999999"), "10");
}

TEST(CanonicalQuantity, WhatIsNoQuantityHasNoCanonicalForm) {
  for (const std::string_view text : {"", "Gi", "10GB", "1 Gi", "1e", "--1", "1.2.3", "NaN"})
    EXPECT_EQ(canonical_quantity(text), std::nullopt) << text;
}

TEST(CanonicalQuantity, WhatKubernetesItselfGetsWrongIsLeftAsItIsWritten) {
  // 1.20 gives "1" back for both of these.
  EXPECT_EQ(canonical_quantity("1000E"), "1000E");
  EXPECT_EQ(canonical_quantity("1000000000000000000000"), "1000000000000000000000");
}

}  // namespace canonical_quantity_test
}  // namespace stackgate::validate::grammar
